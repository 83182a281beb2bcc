use toolgate_outbound::Response;
use toolgate_upstream::ListingError;

use super::answer::{text, unreachable};
use super::sse::Events;
use crate::meter::Meter;

/// The messages of an answer that is an event stream.
#[derive(Debug)]
pub(crate) struct EventStream {
    answer: Response,
    events: Events,
}

impl EventStream {
    pub(super) fn new(answer: Response) -> Self {
        Self { answer, events: Events::default() }
    }

    /// The data of the first event, which has to be of this type.
    pub(crate) async fn first(&mut self, name: &str, meter: &mut Meter) -> Result<String, ListingError> {
        loop {
            if let Some(event) = self.events.next_event() {
                return match event.name == name.as_bytes() {
                    true => text(event.data),
                    false => Err(ListingError::Protocol(format!("the first event is no `{name}`"))),
                };
            }
            let chunk = self.answer.chunk().await.map_err(unreachable)?;
            let chunk =
                chunk.ok_or_else(|| ListingError::Protocol("the event stream ended at once".into()))?;
            meter.take(chunk.len())?;
            self.events.feed(&chunk);
        }
    }

    /// The messages that the next piece of the stream completes; `None` at its end.
    pub(crate) async fn next(&mut self, meter: &mut Meter) -> Result<Option<Vec<String>>, ListingError> {
        let Some(chunk) = self.answer.chunk().await.map_err(unreachable)? else { return Ok(None) };
        meter.take(chunk.len())?;
        self.events.feed(&chunk);
        let complete = std::iter::from_fn(|| self.events.next());
        complete.map(text).collect::<Result<_, _>>().map(Some)
    }
}
