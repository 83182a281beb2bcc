//! The payloads: a private protobuf, written by hand. Field numbers are on disk: never change or reuse one.

use prost::{Message, Oneof};

#[derive(Clone, PartialEq, Message)]
pub(crate) struct Payload {
    #[prost(oneof = "Kind", tags = "1, 2, 3, 4")]
    pub kind: Option<Kind>,
}

#[derive(Clone, PartialEq, Oneof)]
pub(crate) enum Kind {
    #[prost(message, tag = "1")]
    Beginning(Beginning),
    #[prost(message, tag = "2")]
    Call(Box<Call>),
    #[prost(message, tag = "3")]
    Gap(Gap),
    #[prost(message, tag = "4")]
    End(End),
}

/// The first payload of a segment.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct Beginning {
    #[prost(int64, tag = "1")]
    pub at_ms: i64,
    #[prost(message, repeated, tag = "2")]
    pub heads: Vec<Head>,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct Head {
    #[prost(bytes = "vec", tag = "1")]
    pub client: Vec<u8>,
    #[prost(uint64, tag = "2")]
    pub sequence: u64,
    #[prost(bytes = "vec", tag = "3")]
    pub hash: Vec<u8>,
}

/// The last payload before the process ended in order.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct End {
    #[prost(int64, tag = "1")]
    pub at_ms: i64,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct Gap {
    #[prost(bytes = "vec", tag = "1")]
    pub client: Vec<u8>,
    #[prost(uint64, tag = "2")]
    pub sequence: u64,
    #[prost(int64, tag = "3")]
    pub at_ms: i64,
    /// 1 the server was stopped, 2 the calls could not be written.
    #[prost(int32, tag = "4")]
    pub reason: i32,
    #[prost(uint64, tag = "5")]
    pub calls: u64,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct Call {
    #[prost(bytes = "vec", tag = "1")]
    pub client: Vec<u8>,
    #[prost(uint64, tag = "2")]
    pub sequence: u64,
    #[prost(int64, tag = "3")]
    pub at_ms: i64,
    #[prost(bytes = "vec", tag = "4")]
    pub key: Vec<u8>,
    /// Empty for none.
    #[prost(bytes = "vec", tag = "5")]
    pub agent: Vec<u8>,
    #[prost(string, tag = "6")]
    pub name: String,
    /// Empty for none, as the two that follow.
    #[prost(bytes = "vec", tag = "7")]
    pub tool: Vec<u8>,
    #[prost(bytes = "vec", tag = "8")]
    pub upstream: Vec<u8>,
    #[prost(bytes = "vec", tag = "9")]
    pub fingerprint: Vec<u8>,
    #[prost(uint64, tag = "10")]
    pub duration_us: u64,
    #[prost(string, optional, tag = "11")]
    pub unjudged: Option<String>,
    #[prost(uint64, tag = "12")]
    pub arguments_bytes: u64,
    /// Empty where it is not kept.
    #[prost(bytes = "vec", tag = "13")]
    pub arguments_hash: Vec<u8>,
    #[prost(string, optional, tag = "14")]
    pub arguments: Option<String>,
    #[prost(oneof = "Outcome", tags = "15, 16, 17, 18, 19, 20, 22")]
    pub outcome: Option<Outcome>,
    #[prost(uint64, optional, tag = "21")]
    pub forwarded_row: Option<u64>,
}

#[derive(Clone, PartialEq, Oneof)]
pub(crate) enum Outcome {
    #[prost(message, tag = "15")]
    Answered(Answered),
    /// 1 not found, 2 arguments misfit, 3 too many, 4 undecided, 5 stale; 10 and more for the states.
    #[prost(int32, tag = "16")]
    Refused(i32),
    #[prost(sint64, tag = "17")]
    UpstreamRefused(i64),
    /// Whether the tool may have run.
    #[prost(bool, tag = "18")]
    UpstreamFailed(bool),
    /// Whether the tool may have run.
    #[prost(bool, tag = "19")]
    Cancelled(bool),
    /// Always true.
    #[prost(bool, tag = "20")]
    Forwarded(bool),
    /// Always true.
    #[prost(bool, tag = "22")]
    Asked(bool),
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct Answered {
    #[prost(bool, tag = "1")]
    pub is_error: bool,
    #[prost(uint64, tag = "2")]
    pub result_bytes: u64,
}
