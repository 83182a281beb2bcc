//! HTTP+SSE, as servers spoke before revision 2025-03-26.

use std::collections::HashMap;
use std::convert::Infallible;

use axum::body::Body;
use axum::response::Response;
use futures::StreamExt;
use futures::stream::{self, unfold};
use http::header::CONTENT_TYPE;
use tokio::sync::mpsc;

/// The connections of a server that speaks so.
#[derive(Debug)]
pub(super) struct Streams {
    /// Where it says that messages are to be posted; `$N` stands for the number of the connection.
    endpoint: String,
    open: HashMap<String, mpsc::UnboundedSender<String>>,
    opened: usize,
}

impl Streams {
    pub(super) fn new(endpoint: &str) -> Self {
        Self { endpoint: endpoint.to_owned(), open: HashMap::new(), opened: 0 }
    }

    /// A new stream, which names first where to post.
    pub(super) fn open(&mut self) -> Response {
        self.opened += 1;
        let number = self.opened.to_string();
        let (sender, messages) = mpsc::unbounded_channel();
        let endpoint = self.endpoint.replace("$N", &number);
        self.open.insert(number, sender);
        let first = stream::iter([format!("event: endpoint\ndata: {endpoint}\n\n")]);
        let rest =
            unfold(messages, |mut messages| async { messages.recv().await.map(|text| (text, messages)) });
        let body = first.chain(rest.map(|text| format!("event: message\ndata: {text}\n\n")));
        let answer = Response::builder().header(CONTENT_TYPE, "text/event-stream");
        answer.body(Body::from_stream(body.map(Ok::<_, Infallible>))).expect("it is a valid answer")
    }

    /// Sends a message on the stream with this number.
    pub(super) fn send(&self, number: &str, message: String) {
        // A client that is gone hears nothing.
        let _ = self.open.get(number).map(|stream| stream.send(message));
    }

    /// Ends every stream.
    pub(super) fn end(&mut self) {
        self.open.clear();
    }

    /// How many were opened so far.
    pub(super) fn opened(&self) -> usize {
        self.opened
    }
}
