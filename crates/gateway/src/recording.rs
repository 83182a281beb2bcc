use std::{fmt::Debug, sync::Arc, time::Instant};

use async_trait::async_trait;
use toolgate_catalog::ToolEntry;
use toolgate_definition::{Effect, arguments::Arguments, scan::members};
use toolgate_domain::{
    CallOutcome, CallRecord, CallRefusal, CalledTool, Fault, decision::Admitted,
    limits::MAX_LOGGED_NAME_BYTES,
};

use crate::{CallTool, Called, Gateway, ToolRef};

/// The code of the error that this is in MCP.
const MISSING_CAPABILITY: i64 = -32021;

/// Keeps what is remembered of calls.
#[async_trait]
pub trait CallRecords: Send + Sync + Debug + 'static {
    /// Remembers a call that ended, with its arguments: as they were sent, or as they came where nothing was sent. Never
    /// waits.
    fn record(&self, record: CallRecord, arguments: Arguments);

    /// Whether calls of effect `changes` are to be on disk before they are sent.
    fn are_first(&self) -> bool;

    /// Remembers for good that a call is about to be sent; the number of its row.
    ///
    /// # Errors
    /// It cannot be: the call must not be sent.
    async fn record_first(&self, record: CallRecord, arguments: Arguments) -> Result<u64, CannotRecord>;
}

/// The log cannot be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the log of calls cannot be written")]
pub struct CannotRecord;

/// The record of a call while it lasts. Where it is dropped before its end, the caller gave the call up.
pub(crate) struct Recording {
    records: Arc<dyn CallRecords>,
    began: Instant,
    /// `None` once it is recorded.
    open: Option<(CallRecord, Arguments)>,
}

impl Recording {
    pub(crate) fn begin(gateway: &Gateway, call: &CallTool) -> Self {
        let name = match &call.tool {
            ToolRef::Name(name) | ToolRef::OxpId(name) => cut(name),
            ToolRef::Id(id) => id.to_string(),
        };
        let record = CallRecord {
            at: gateway.clock.now(),
            client: call.client,
            key: call.key,
            agent: call.agent,
            name,
            tool: None,
            outcome: CallOutcome::Cancelled { may_have_run: false },
            duration_us: 0,
            unjudged: None,
            forwarded_row: None,
        };
        let open = Some((record, call.arguments.clone()));
        Self { records: Arc::clone(&gateway.records), began: Instant::now(), open }
    }

    /// The tool is known.
    pub(crate) fn found(&mut self, entry: &ToolEntry) {
        if let Some((record, _)) = &mut self.open {
            let tool = &entry.tool;
            record.name = tool.namespaced_name();
            let fingerprint = tool.definition.fingerprint();
            record.outcome = CallOutcome::Cancelled { may_have_run: false };
            record.tool = Some(CalledTool { id: tool.id, upstream: tool.upstream, fingerprint });
        }
    }

    /// What is to be sent is known. Where it has to be on disk first, it is then.
    pub(crate) async fn sends(&mut self, admitted: &Admitted, effect: Effect) -> Result<(), Fault> {
        let Some((record, arguments)) = &mut self.open else { return Ok(()) };
        record.unjudged.clone_from(&admitted.unjudged);
        *arguments = admitted.arguments.clone();
        if effect == Effect::Changes && self.records.are_first() {
            let first = CallRecord { outcome: CallOutcome::Forwarded, ..record.clone() };
            let row = self.records.record_first(first, arguments.clone()).await;
            let row = row.map_err(|error| Fault::StoreUnavailable {
                outcome_unknown: false,
                cause: error.to_string(),
            })?;
            record.forwarded_row = Some(row);
        }
        record.outcome = CallOutcome::Cancelled { may_have_run: true };
        Ok(())
    }

    /// Nothing is to be recorded.
    pub(crate) fn discard(mut self) {
        self.open = None;
    }

    pub(crate) fn end(mut self, called: Result<&Called, &Fault>) {
        if let Some((record, _)) = &mut self.open {
            record.outcome = outcome(called);
        }
    }
}

impl Drop for Recording {
    fn drop(&mut self) {
        if let Some((mut record, arguments)) = self.open.take() {
            record.duration_us = u64::try_from(self.began.elapsed().as_micros()).unwrap_or(u64::MAX);
            self.records.record(record, arguments);
        }
    }
}

fn outcome(called: Result<&Called, &Fault>) -> CallOutcome {
    match called {
        Ok(Called::Asks(_)) => CallOutcome::Asked,
        Ok(Called::Result(result)) => {
            CallOutcome::Answered { is_error: says_that_it_failed(result), result_bytes: result.len() as u64 }
        }
        Err(Fault::UpstreamRefused { code, .. }) => CallOutcome::UpstreamRefused { code: *code },
        Err(Fault::CapabilityMissing { .. }) => CallOutcome::UpstreamRefused { code: MISSING_CAPABILITY },
        Err(Fault::UpstreamFailed { may_have_run, .. }) => {
            CallOutcome::UpstreamFailed { may_have_run: *may_have_run }
        }
        Err(Fault::ToolNotFound | Fault::ClientNotFound) => CallOutcome::Refused(CallRefusal::NotFound),
        Err(Fault::ToolNotServed { state, .. }) => CallOutcome::Refused(CallRefusal::NotServed(*state)),
        Err(Fault::ArgumentsMisfit(_) | Fault::ArgumentHeaderMismatch { .. }) => {
            CallOutcome::Refused(CallRefusal::ArgumentsMisfit)
        }
        Err(Fault::ListingStale) => CallOutcome::Refused(CallRefusal::Stale),
        Err(Fault::LimitExceeded { .. }) => CallOutcome::Refused(CallRefusal::TooMany),
        Err(_) => CallOutcome::Refused(CallRefusal::Undecided),
    }
}

fn says_that_it_failed(result: &str) -> bool {
    members(result).map_while(Result::ok).any(|(name, value)| name == "isError" && value == "true")
}

fn cut(name: &str) -> String {
    name[..name.floor_char_boundary(MAX_LOGGED_NAME_BYTES)].to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_result_says_by_its_own_member_whether_the_tool_failed() {
        assert!(says_that_it_failed(r#"{"content":[],"isError":true}"#));
        for fine in [r#"{"content":[]}"#, r#"{"isError":false}"#, r#"{"content":[{"isError":true}]}"#, "7"] {
            assert!(!says_that_it_failed(fine), "{fine}");
        }
    }
}
