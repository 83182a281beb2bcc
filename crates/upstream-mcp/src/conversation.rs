//! A run of requests to one server: where an era and a transport meet.

use std::future::Future;
use std::time::Duration;

use tokio::time::{Instant, timeout_at};
use toolgate_upstream::{Bounds, CallAnswer, CallBounds, ListingError, ToolCall};

use crate::envelope::Envelope;
use crate::limits::FAREWELL;
use crate::meter::Meter;
use crate::rpc::{Request, RpcError};

/// What a deadline is of, where it is the whole call's.
pub(crate) const THE_CALL: &str = "the call";

/// Carries messages to one server. Dropping it ends everything it opened.
pub(crate) trait Wire: Send {
    /// Whether a request has headers beside its text.
    const HAS_HEADERS: bool;

    /// Sends a request and waits for its answer: the exact text of `result`.
    fn ask(
        &mut self,
        request: &Request,
        meter: &mut Meter,
    ) -> impl Future<Output = Result<String, Failure>> + Send;

    /// Sends a notification.
    fn tell(&mut self, notification: String) -> impl Future<Output = Result<(), Failure>> + Send;

    /// Takes note of the protocol revision of the session from now on.
    fn agreed_on(&mut self, revision: &'static str);

    /// Takes leave of the server. May be abandoned at any point.
    fn end(&mut self) -> impl Future<Output = ()> + Send;
}

/// Why a request has no result.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The server has forgotten the session (HTTP 404). A wire says so once; from then on it is an error like another.
    SessionGone,
    /// The server answered an error.
    Rpc(RpcError),
    Listing(ListingError),
}

impl From<ListingError> for Failure {
    fn from(error: ListingError) -> Self {
        Self::Listing(error)
    }
}

impl From<RpcError> for Failure {
    fn from(error: RpcError) -> Self {
        Self::Rpc(error)
    }
}

impl From<Failure> for ListingError {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::SessionGone => Self::Status(404),
            Failure::Rpc(error) => error.into(),
            Failure::Listing(error) => error,
        }
    }
}

/// Refuses a call that is not to be made any more.
pub(crate) fn check_leave(call: &ToolCall<'_>) -> Result<(), Failure> {
    match (call.may_leave)() {
        true => Ok(()),
        false => Err(ListingError::Refused("the call was withdrawn before it was sent".into()).into()),
    }
}

/// When to stop waiting, and what to say then.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Deadline {
    at: Instant,
    limit: Duration,
    of: &'static str,
}

impl Deadline {
    /// Half of what is left.
    pub(crate) fn half(self) -> Self {
        let now = Instant::now();
        Self { at: now + self.at.saturating_duration_since(now) / 2, ..self }
    }

    /// That of a call that begins now.
    pub(crate) fn after(limit: Duration) -> Self {
        Self { at: Instant::now() + limit, limit, of: THE_CALL }
    }

    pub(crate) fn at(self) -> Instant {
        self.at
    }

    pub(crate) fn passed(self) -> ListingError {
        ListingError::Timeout(format!("{} took longer than {} ms", self.of, self.limit.as_millis()))
    }
}

/// Numbers the requests, meters the answers and watches the clock. One request is under way at a time.
#[derive(Debug)]
pub(crate) struct Conversation<W> {
    pub(crate) wire: W,
    pub(crate) envelope: Envelope,
    /// The server answered `initialize`.
    pub(crate) is_opened: bool,
    last_id: u64,
    meter: Meter,
    whole: Deadline,
}

impl<W: Wire> Conversation<W> {
    pub(crate) fn new(wire: W, bounds: &Bounds) -> Self {
        Self::within_limit(wire, Meter::new(bounds), bounds.total_timeout, "the listing")
    }

    /// For one call.
    pub(crate) fn for_call(wire: W, bounds: &CallBounds) -> Self {
        Self::within_limit(wire, Meter::for_call(bounds), bounds.total_timeout, THE_CALL)
    }

    fn within_limit(wire: W, meter: Meter, limit: Duration, of: &'static str) -> Self {
        let whole = Deadline { at: Instant::now() + limit, limit, of };
        Self { wire, envelope: Envelope::Bare, is_opened: false, last_id: 0, meter, whole }
    }

    /// The deadline for everything before the first page.
    pub(crate) fn opening(&self, bounds: &Bounds) -> Deadline {
        self.opening_within(bounds.connect_timeout)
    }

    /// The deadline for everything before what the conversation is for.
    pub(crate) fn opening_within(&self, limit: Duration) -> Deadline {
        self.within(limit, "the handshake")
    }

    /// A deadline `limit` from now, or the whole conversation's when that comes first.
    pub(crate) fn within(&self, limit: Duration, of: &'static str) -> Deadline {
        let deadline = Deadline { at: Instant::now() + limit, limit, of };
        if deadline.at < self.whole.at { deadline } else { self.whole }
    }

    /// Sends a request, its params the members of a JSON object, and waits for the exact text of its result.
    pub(crate) async fn ask(
        &mut self,
        method: &'static str,
        params: &str,
        until: Deadline,
    ) -> Result<String, Failure> {
        let request = self.request(method, params);
        match timeout_at(until.at, self.wire.ask(&request, &mut self.meter)).await {
            Ok(answer) => {
                let result = answer?;
                self.envelope.check(&result)?;
                Ok(result)
            }
            Err(_) => Err(until.passed().into()),
        }
    }

    /// The id of the next request.
    pub(crate) fn next_id(&self) -> u64 {
        self.last_id + 1
    }

    /// Calls a tool and waits for the exact text of its result, whatever it says.
    pub(crate) async fn call(&mut self, call: &ToolCall<'_>) -> Result<CallAnswer, Failure> {
        check_leave(call)?;
        self.last_id += 1;
        self.meter.start_answer();
        let request = Request::call(self.last_id, call, self.envelope);
        match timeout_at(self.whole.at, self.wire.ask(&request, &mut self.meter)).await {
            Ok(answer) => Ok(self.envelope.checked_call(answer?)?),
            Err(_) => Err(self.whole.passed().into()),
        }
    }

    /// The next request, numbered, in its envelope.
    pub(crate) fn request(&mut self, method: &'static str, params: &str) -> Request {
        self.last_id += 1;
        self.meter.start_answer();
        Request::new(self.last_id, method, &self.envelope.params(params), self.envelope.declares())
    }

    /// Sends a notification without params.
    pub(crate) async fn tell(&mut self, method: &'static str, until: Deadline) -> Result<(), Failure> {
        let text = format!(r#"{{"jsonrpc":"2.0","method":"{method}"}}"#);
        match timeout_at(until.at, self.wire.tell(text)).await {
            Ok(told) => told,
            Err(_) => Err(until.passed().into()),
        }
    }

    /// Takes leave, in what is left of the time.
    pub(crate) async fn end(mut self) {
        let until = self.within(FAREWELL, "the farewell");
        // Whether the server heard it makes no difference to what was listed.
        let _ = timeout_at(until.at, self.wire.end()).await;
    }
}
