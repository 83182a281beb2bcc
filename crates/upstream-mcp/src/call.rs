//! A call of a tool, from the endpoint to the text of the result.

use tokio::time::{Instant, timeout_at};
use toolgate_upstream::{
    CallAnswer, CallBounds, CallError, CallNotice, Endpoint, ListingError, LogLevel, ToolCall,
};

use crate::channel::{Channel, IntoChannel};
use crate::conversation::{Conversation, Deadline, Failure, Wire};
use crate::envelope::Envelope;
use crate::eras::{self, Era, Known};
use crate::http::{HttpSession, HttpWire};
use crate::kept::{Held, Kept};
use crate::rpc::Notice;
use crate::session_era::shake_hands;

/// Who hears what a server tells of a call.
pub(crate) type Told<'a> = &'a (dyn Fn(CallNotice) + Send + Sync);

/// What a notice tells of a call of which so much of the log is wanted.
pub(crate) fn of_call(notice: Notice, log_level: Option<LogLevel>) -> Option<CallNotice> {
    match notice {
        Notice::Progress(members) => Some(CallNotice::Progress(members)),
        Notice::Log(level, params) if log_level.is_some_and(|least| level >= least) => {
            Some(CallNotice::Log(params))
        }
        Notice::Log(..) | Notice::ToolsChanged | Notice::Acknowledged { .. } => None,
    }
}

/// What calls go on in.
#[derive(Debug, Default)]
pub(crate) struct Lines {
    sessions: Kept<HttpSession>,
    channels: Kept<Channel>,
}

/// One call, with what it needs of its server.
#[derive(Clone, Copy)]
pub(crate) struct Calling<'a> {
    pub(crate) endpoint: &'a Endpoint,
    pub(crate) call: &'a ToolCall<'a>,
    pub(crate) bounds: &'a CallBounds,
    pub(crate) told: Told<'a>,
    /// What is known of the server, if anything is.
    pub(crate) known: Option<Known>,
}

/// What became of a call, and what is known of the server now.
pub(crate) type Called = (Option<Known>, Result<CallAnswer, CallError>);

impl Calling<'_> {
    /// Over HTTP; `wire` makes the way to the server, anew for each attempt.
    pub(crate) async fn over_http<'w>(
        self,
        lines: &Lines,
        wire: impl Fn() -> Result<HttpWire<'w>, ListingError>,
    ) -> Called {
        let open = async {
            let mut conversation = Conversation::for_call(wire()?, self.bounds);
            let known = self.found(&mut conversation).await?;
            Ok::<_, ListingError>((conversation, known))
        };
        let (mut conversation, known) = match open.await {
            Ok(open) => open,
            Err(error) => return (None, Err(not_sent(error))),
        };
        let called = match known.era {
            Era::Stateless(revision) => {
                conversation.envelope = Envelope::Declaring(revision);
                conversation.call(self.call).await.map_err(from_failure)
            }
            Era::Session | Era::Streams => self.in_session(lines, conversation, wire).await,
        };
        (Some(known), called)
    }

    async fn found<W: Wire>(&self, conversation: &mut Conversation<W>) -> Result<Known, ListingError> {
        match self.known {
            Some(known) => Ok(known),
            None => eras::find(conversation, conversation.opening_within(self.bounds.connect_timeout)).await,
        }
    }

    /// In the session that is kept, or a new one. A server that says it has forgotten the session (404) has not taken the
    /// call, which is sent once more in a new one.
    async fn in_session<'w>(
        &self,
        lines: &Lines,
        mut conversation: Conversation<HttpWire<'w>>,
        wire: impl Fn() -> Result<HttpWire<'w>, ListingError>,
    ) -> Result<CallAnswer, CallError> {
        let Some(shares) = self.call.shares else { return self.in_own_session(conversation).await };
        let held = lines.sessions.of(self.endpoint, shares, Instant::now());
        let session = self.session(&held, &mut conversation).await?;
        match self.sent(&mut conversation).await {
            Err(Failure::SessionGone) => {
                forget(&held, &session).await;
                conversation = Conversation::for_call(wire().map_err(not_sent)?, self.bounds);
                self.session(&held, &mut conversation).await?;
                self.sent(&mut conversation).await.map_err(from_failure)
            }
            called => called.map_err(from_failure),
        }
    }

    /// In a session that is opened for it and ended after it.
    async fn in_own_session(
        &self,
        mut conversation: Conversation<HttpWire<'_>>,
    ) -> Result<CallAnswer, CallError> {
        self.session(&Held::default(), &mut conversation).await?;
        let called = self.sent(&mut conversation).await.map_err(from_failure);
        conversation.end().await;
        called
    }

    /// Sends the call in the session of the conversation. The server hears of it when nobody waits any more.
    async fn sent(&self, conversation: &mut Conversation<HttpWire<'_>>) -> Result<CallAnswer, Failure> {
        let mut giving_up = conversation.wire.giving_up(conversation.next_id());
        let called = conversation.call(self.call).await;
        giving_up.is_answered = !matches!(&called, Err(Failure::Listing(ListingError::Timeout(_))));
        called
    }

    async fn session(
        &self,
        held: &Held<HttpSession>,
        conversation: &mut Conversation<HttpWire<'_>>,
    ) -> Result<HttpSession, CallError> {
        conversation.envelope = Envelope::Bare;
        let until = conversation.opening_within(self.bounds.connect_timeout);
        let mut held = in_time(until, held.lock()).await?;
        if let Some(session) = &*held {
            conversation.wire.resume(session.clone());
            return Ok(session.clone());
        }
        shake_hands(conversation, until).await.map_err(|failure| not_sent(failure.into()))?;
        let session = conversation.wire.session();
        *held = Some(session.clone());
        Ok(session)
    }

    /// Over the channel that is kept, or a new one.
    pub(crate) async fn over_channel<W: Wire + IntoChannel>(
        self,
        lines: &Lines,
        start: impl FnOnce() -> Result<W, ListingError>,
    ) -> Called {
        let kept = |shares| lines.channels.of(self.endpoint, shares, Instant::now());
        let held = self.call.shares.map_or_else(Held::default, kept);
        let whole = Deadline::of_call(self.bounds);
        let mut known = self.known;
        let channel = async {
            let mut held = in_time(whole, held.lock()).await?;
            if let Some(channel) = held.as_ref().filter(|channel| channel.is_alive()) {
                return Ok(channel.clone());
            }
            let opened = self.open_channel(start).await.map_err(not_sent)?;
            known = Some(opened.0);
            *held = Some(opened.1.clone());
            Ok(opened.1)
        };
        let channel = match channel.await {
            Ok(channel) => channel,
            Err(error) => return (None, Err(error)),
        };
        let called = match timeout_at(whole.at(), channel.call(self.call, self.bounds, self.told)).await {
            Ok(called) => called.map_err(from_failure),
            Err(_) => Err(from_failure(whole.passed().into())),
        };
        (known, called)
    }

    async fn open_channel<W: Wire + IntoChannel>(
        &self,
        start: impl FnOnce() -> Result<W, ListingError>,
    ) -> Result<(Known, Channel), ListingError> {
        let mut conversation = Conversation::for_call(start()?, self.bounds);
        let known = self.found(&mut conversation).await?;
        let envelope = match known.era {
            Era::Stateless(revision) => Envelope::Declaring(revision),
            Era::Session | Era::Streams => {
                conversation.envelope = Envelope::Bare;
                let until = conversation.opening_within(self.bounds.connect_timeout);
                shake_hands(&mut conversation, until).await?;
                Envelope::Bare
            }
        };
        Ok((known, conversation.wire.into_channel(envelope)))
    }
}

impl Deadline {
    fn of_call(bounds: &CallBounds) -> Self {
        Self::after(bounds.total_timeout)
    }
}

async fn in_time<T>(until: Deadline, opened: impl Future<Output = T>) -> Result<T, CallError> {
    timeout_at(until.at(), opened).await.map_err(|_| not_sent(until.passed()))
}

/// Lets go of a session, unless another call has opened a new one already.
async fn forget(held: &Held<HttpSession>, session: &HttpSession) {
    let mut held = held.lock().await;
    held.take_if(|present| present == session);
}

fn not_sent(error: ListingError) -> CallError {
    CallError { error, may_have_run: false }
}

/// What is known of a call that was sent: a refusal before it was taken, or an answer, means that it did not run on.
fn from_failure(failure: Failure) -> CallError {
    let error = ListingError::from(failure);
    let may_have_run = match &error {
        ListingError::Refused(_)
        | ListingError::Connect(_)
        | ListingError::Unauthorized { .. }
        | ListingError::Rpc { .. }
        | ListingError::MissingCapability { .. } => false,
        ListingError::Status(status) => *status >= 500,
        ListingError::Timeout(_) | ListingError::Protocol(_) | ListingError::TooLarge(_) => true,
    };
    CallError { error, may_have_run }
}
