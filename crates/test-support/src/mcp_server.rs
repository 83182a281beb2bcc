//! A scripted MCP server over Streamable HTTP, on a loopback port of its own.
//!
//! It opens sessions of revision 2025-11-25, or is told to speak the stateless 2026-07-28, and lists whatever a test tells
//! it to, also while it runs. Anything it would answer can be replaced by a [`Reply`], once or for good, addressed by the JSON-RPC method of a POST or by the HTTP
//! method of any other request.

mod reply;
mod stateless;
mod streams;

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard};

use axum::Router;
use axum::extract::{Request, State};
use axum::response::Response;
use http::{HeaderMap, Method, StatusCode};
use serde_json::value::RawValue;
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinHandle;

pub use reply::Reply;
use reply::Told;
use streams::Streams;

const INVALID_CURSOR: &str = r#""error":{"code":-32602,"message":"invalid cursor"}"#;

const MAX_REQUEST_BYTES: usize = 16 << 20;

/// One request as it arrived.
#[derive(Debug, Clone)]
pub struct Received {
    /// The JSON-RPC method of a POST (empty for an answer of the client's), the HTTP method of any other request.
    pub method: String,
    /// The path of the URL.
    pub path: String,
    /// Every header.
    pub headers: HeaderMap,
    /// The body as it came.
    pub body: String,
}

impl Received {
    /// The exact JSON text at `params.cursor`.
    pub fn cursor(&self) -> Option<String> {
        member(member(&self.body, "params")?.get(), "cursor").map(|token| token.get().to_owned())
    }
}

/// The server. It stops when this is dropped.
#[derive(Debug)]
pub struct ScriptedServer {
    address: SocketAddr,
    script: Arc<Mutex<Script>>,
    serving: JoinHandle<()>,
}

#[derive(Debug)]
struct Script {
    revision: String,
    /// The revisions of `server/discover`; none where only sessions are known.
    stateless: Vec<String>,
    ttl_ms: u64,
    /// What the streams of notices have told; none where there are no such streams.
    notices: Option<watch::Sender<Told>>,
    /// The text of each page's `tools`, with the cursor that leads on.
    pages: Vec<(String, Option<String>)>,
    standing: HashMap<String, Reply>,
    once: HashMap<String, VecDeque<Reply>>,
    everything: Option<Reply>,
    as_events: bool,
    has_sessions: bool,
    sessions: Vec<String>,
    sessions_opened: usize,
    received: Vec<Received>,
    /// Where it speaks HTTP+SSE alone.
    streams: Option<Streams>,
}

impl ScriptedServer {
    /// Starts a server that lists nothing.
    pub async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a loopback port is free");
        let address = listener.local_addr().expect("a bound socket has an address");
        let script = Arc::new(Mutex::new(Script::new()));
        let router = Router::new().fallback(answer).with_state(Arc::clone(&script));
        let serving = tokio::spawn(async move {
            axum::serve(listener, router).await.expect("accepting never fails");
        });
        Self { address, script, serving }
    }

    /// The URL of its MCP endpoint. Any other path answers the same.
    pub fn url(&self) -> String {
        format!("http://{}/mcp", self.address)
    }

    /// Lists these entries, each an exact JSON text, on one page.
    pub fn list<T: AsRef<str>>(&self, entries: &[T]) {
        let entries: Vec<_> = entries.iter().map(AsRef::as_ref).collect();
        self.pages(&[(&format!("[{}]", entries.join(",")), None)]);
    }

    /// Lists these pages: the exact text of `tools`, and of the `nextCursor` (a JSON string with its quotes, say) that
    /// leads to the page after it. A cursor that leads nowhere is answered -32602.
    pub fn pages(&self, pages: &[(&str, Option<&str>)]) {
        let owned = |&(tools, next): &(&str, Option<&str>)| (tools.to_owned(), next.map(str::to_owned));
        self.script().pages = pages.iter().map(owned).collect();
    }

    /// From now on answers `method` with this.
    pub fn reply(&self, method: &str, reply: Reply) {
        self.script().standing.insert(method.to_owned(), reply);
    }

    /// Answers the next request for `method` with this; several stand in line.
    pub fn reply_once(&self, method: &str, reply: Reply) {
        self.script().once.entry(method.to_owned()).or_default().push_back(reply);
    }

    /// From now on answers everything with this.
    pub fn reply_to_everything(&self, reply: Reply) {
        self.script().everything = Some(reply);
    }

    /// From now on answers everything with this status and body.
    pub fn fail(&self, status: u16, body: &str) {
        self.reply_to_everything(Reply::status(status, body));
    }

    /// From now on accepts requests and never answers.
    pub fn hang(&self) {
        self.reply_to_everything(Reply::hang());
    }

    /// Forgets every scripted reply; the pages stay.
    pub fn recover(&self) {
        let mut script = self.script();
        (script.everything, script.standing, script.once) = Default::default();
    }

    /// Answers requests as event streams from now on.
    pub fn answer_as_events(&self) {
        self.script().as_events = true;
    }

    /// Gives out session ids (`session-1`, …) from now on and wants them back.
    pub fn open_sessions(&self) {
        self.script().has_sessions = true;
    }

    /// Answers 404 to every session opened so far.
    pub fn forget_sessions(&self) {
        self.script().sessions.clear();
    }

    /// Speaks this revision from now on, whatever it is offered.
    pub fn speak(&self, revision: &str) {
        self.script().revision = revision.to_owned();
    }

    /// Speaks the stateless revision 2026-07-28 alone from now on, and says that it supports these.
    pub fn speak_statelessly(&self, supported: &[&str]) {
        self.script().stateless = supported.iter().map(|revision| (*revision).to_owned()).collect();
    }

    /// Says that its answers are fresh for so long (stateless revisions).
    pub fn fresh_for_ms(&self, ttl_ms: u64) {
        self.script().ttl_ms = ttl_ms;
    }

    /// Offers streams of notices from now on: on GET in sessions, on `subscriptions/listen` without.
    pub fn offer_notices(&self) {
        self.script().notices.get_or_insert_with(|| watch::Sender::new(Told::default()));
    }

    /// Tells on every open stream that the list of tools changed.
    pub fn tell_changed(&self) {
        self.tell(|told| told.changes += 1);
    }

    /// Ends every open stream.
    pub fn end_streams(&self) {
        self.tell(|told| told.ends += 1);
    }

    fn tell(&self, what: impl FnOnce(&mut Told)) {
        let script = self.script();
        script.notices.as_ref().expect("a test offers notices before it tells").send_modify(what);
    }

    /// From now on speaks HTTP+SSE alone, as before revision 2025-03-26, and says that messages are to be posted to
    /// `endpoint`, in which `$N` stands for the number of the connection.
    pub fn speak_over_streams(&self, endpoint: &str) {
        self.script().streams = Some(Streams::new(endpoint));
        self.speak("2024-11-05");
    }

    /// Ends the connections of a server that speaks HTTP+SSE.
    pub fn end_connections(&self) {
        self.script().streams.as_mut().expect("it speaks HTTP+SSE").end();
    }

    /// How many connections of a server that speaks HTTP+SSE were opened.
    pub fn connections_opened(&self) -> usize {
        self.script().streams.as_ref().map_or(0, Streams::opened)
    }

    /// Everything that arrived so far.
    pub fn received(&self) -> Vec<Received> {
        self.script().received.clone()
    }

    /// What arrived for this method.
    pub fn received_for(&self, method: &str) -> Vec<Received> {
        self.received().into_iter().filter(|request| request.method == method).collect()
    }

    fn script(&self) -> MutexGuard<'_, Script> {
        self.script.lock().expect("no holder of the script panics")
    }
}

impl Drop for ScriptedServer {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

async fn answer(State(script): State<Arc<Mutex<Script>>>, request: Request) -> Response {
    let (head, body) = request.into_parts();
    let Ok(body) = axum::body::to_bytes(body, MAX_REQUEST_BYTES).await else {
        return Reply::status(413, "").send("null").await;
    };
    let body = String::from_utf8_lossy(&body).into_owned();
    let method = match head.method {
        Method::POST => {
            member(&body, "method").map(|m| m.get().trim_matches('"').to_owned()).unwrap_or_default()
        }
        other => other.to_string(),
    };
    let id = member(&body, "id").map_or("null".to_owned(), |id| id.get().to_owned());
    let received = Received { method, path: head.uri.path().to_owned(), headers: head.headers, body };
    let number = head.uri.query().and_then(|query| query.split('=').nth(1)).unwrap_or_default();
    let reply = match script
        .lock()
        .expect("no holder of the script panics")
        .answer_over_streams(&received, number, &id)
    {
        Ok(response) => return response,
        Err(reply) => reply,
    };
    reply.send(&id).await
}

impl Script {
    fn new() -> Self {
        Self {
            revision: "2025-11-25".into(),
            stateless: Vec::new(),
            ttl_ms: 0,
            notices: None,
            pages: vec![("[]".into(), None)],
            standing: HashMap::new(),
            once: HashMap::new(),
            everything: None,
            as_events: false,
            has_sessions: false,
            sessions: Vec::new(),
            sessions_opened: 0,
            received: Vec::new(),
            streams: None,
        }
    }

    /// The response of a server that speaks HTTP+SSE; else, the reply.
    fn answer_over_streams(&mut self, request: &Received, number: &str, id: &str) -> Result<Response, Reply> {
        let Some(mut streams) = self.streams.take() else { return Err(self.answer(request)) };
        let answered = match request.method.as_str() {
            "GET" => {
                self.received.push(request.clone());
                Ok(streams.open())
            }
            _ if number.is_empty() => {
                self.received.push(request.clone());
                Err(Reply::status(405, ""))
            }
            _ => {
                let answer = self.answer(request).document(id);
                answer.into_iter().for_each(|answer| streams.send(number, answer));
                Err(Reply::status(202, ""))
            }
        };
        self.streams = Some(streams);
        answered
    }

    fn answer(&mut self, request: &Received) -> Reply {
        self.received.push(request.clone());
        if let Some(reply) = self.once.get_mut(&request.method).and_then(VecDeque::pop_front) {
            return reply;
        }
        if let Some(reply) = self.standing.get(&request.method).or(self.everything.as_ref()) {
            return reply.clone();
        }
        if !self.stateless.is_empty() {
            return self.answer_statelessly(request);
        }
        if let Some(refusal) = self.check_session(request) {
            return refusal;
        }
        match request.method.as_str() {
            "initialize" => self.initialize(),
            "tools/list" => self.page(request),
            "tools/call" => self.result(&format!("{{{}}}", echo(request))),
            "ping" => self.result("{}"),
            "GET" if self.notices.is_some() => self.notices(": open\n\n".into(), "{}"),
            "GET" | "DELETE" => Reply::status(405, "").header("allow", "POST"),
            method if method.is_empty() || method.starts_with("notifications/") => Reply::status(202, ""),
            _ => self.message(r#""error":{"code":-32601,"message":"method not found"}"#),
        }
    }

    fn check_session(&self, request: &Received) -> Option<Reply> {
        if !self.has_sessions || request.method == "initialize" {
            return None;
        }
        let Some(id) = request.headers.get("mcp-session-id").and_then(|id| id.to_str().ok()) else {
            return Some(Reply::status(StatusCode::BAD_REQUEST.as_u16(), "no session id"));
        };
        let is_known = self.sessions.iter().any(|session| session == id);
        (!is_known).then(|| Reply::status(StatusCode::NOT_FOUND.as_u16(), "no such session"))
    }

    fn initialize(&mut self) -> Reply {
        let reply = self.result(&format!(
            r#"{{"protocolVersion":"{}","capabilities":{},"serverInfo":{{"name":"scripted","version":"1"}}}}"#,
            self.revision,
            self.capabilities()
        ));
        if !self.has_sessions {
            return reply;
        }
        self.sessions_opened += 1;
        let id = format!("session-{}", self.sessions_opened);
        self.sessions.push(id.clone());
        reply.header("mcp-session-id", &id)
    }

    fn capabilities(&self) -> String {
        format!(r#"{{"tools":{{"listChanged":{}}}}}"#, self.notices.is_some())
    }

    fn page(&self, request: &Received) -> Reply {
        match self.page_members(request) {
            None => self.message(INVALID_CURSOR),
            Some(members) => self.result(&format!("{{{members}}}")),
        }
    }

    /// The members of the result that holds the page asked for, if there is one.
    fn page_members(&self, request: &Received) -> Option<String> {
        let (tools, next) = match request.cursor() {
            None => self.pages.first()?,
            Some(cursor) => {
                let before = self.pages.iter().position(|(_, next)| next.as_deref() == Some(&cursor))?;
                self.pages.get(before + 1)?
            }
        };
        let next = next.as_ref().map(|next| format!(r#","nextCursor":{next}"#)).unwrap_or_default();
        Some(format!(r#""tools":{tools}{next}"#))
    }

    /// A stream that opens with a text and then tells each change with these params.
    fn notices(&self, opening: String, params: &str) -> Reply {
        let told = self.notices.as_ref().expect("notices are offered").subscribe();
        let notice = format!(
            "data: {{\"jsonrpc\":\"2.0\",\"method\":\"notifications/tools/list_changed\",\"params\":{params}}}\n\n"
        );
        Reply::live(opening, notice, told)
    }

    fn result(&self, result: &str) -> Reply {
        self.message(&format!(r#""result":{result}"#))
    }

    fn message(&self, member: &str) -> Reply {
        let message = format!(r#"{{"jsonrpc":"2.0","id":$ID,{member}}}"#);
        if self.as_events { Reply::event(&message) } else { Reply::json(&message) }
    }
}

/// The members of the result of a call: what was sent, as it was spelt.
fn echo(request: &Received) -> String {
    let params = member(&request.body, "params");
    let arguments = params.and_then(|params| member(params.get(), "arguments"));
    let arguments = arguments.map_or("null".to_owned(), |arguments| arguments.get().to_owned());
    let text = serde_json::json!(arguments);
    format!(
        r#""content":[{{"type":"text","text":{text}}}],"structuredContent":{{"sent":{arguments}}},"x-spelt":1.0"#
    )
}

/// The exact text of one member of an object.
fn member(object: &str, key: &str) -> Option<Box<RawValue>> {
    serde_json::from_str::<BTreeMap<String, Box<RawValue>>>(object).ok()?.remove(key)
}
