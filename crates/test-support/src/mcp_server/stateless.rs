//! Revision 2026-07-28: each request declares what it speaks, twice over.

use serde_json::Value;

use super::{INVALID_CURSOR, Received, Reply, Script};

const PROTOCOL_VERSION: &str = "io.modelcontextprotocol/protocolVersion";
const SERVER_INFO: &str =
    r#""_meta":{"io.modelcontextprotocol/serverInfo":{"name":"scripted","version":"1"}}"#;

impl Script {
    pub(super) fn answer_statelessly(&self, request: &Received) -> Reply {
        if matches!(request.method.as_str(), "GET" | "DELETE") {
            return Reply::status(405, "").header("allow", "POST");
        }
        if let Some(refusal) = self.refuse(request) {
            return refusal;
        }
        match request.method.as_str() {
            "server/discover" => self.cacheable(&format!(
                r#""supportedVersions":{},"capabilities":{}"#,
                self.supported(),
                self.capabilities()
            )),
            "tools/list" => match self.page_members(request) {
                None => refused(400, INVALID_CURSOR),
                Some(members) => self.cacheable(&members),
            },
            "tools/call" => self.result(&format!(r#"{{"resultType":"complete",{}}}"#, super::echo(request))),
            "subscriptions/listen" if self.notices.is_some() => self.subscription(),
            _ => refused(404, r#""error":{"code":-32601,"message":"method not found"}"#),
        }
    }

    /// The checks that the transport demands of a server (Streamable HTTP, "Server Validation").
    fn refuse(&self, request: &Received) -> Option<Reply> {
        let body: Value = serde_json::from_str(&request.body).unwrap_or_default();
        let meta = &body["params"]["_meta"];
        let declared = meta[PROTOCOL_VERSION].as_str();
        let header = |name| request.headers.get(name).and_then(|value| value.to_str().ok());
        if declared.is_none() || !meta["io.modelcontextprotocol/clientCapabilities"].is_object() {
            return Some(refused(400, r#""error":{"code":-32602,"message":"_meta is incomplete"}"#));
        }
        if header("mcp-protocol-version") != declared || header("mcp-method") != Some(&request.method) {
            return Some(refused(400, r#""error":{"code":-32020,"message":"header mismatch"}"#));
        }
        let is_supported = self.stateless.iter().any(|revision| Some(revision.as_str()) == declared);
        let supported = self.supported();
        (!is_supported).then(|| {
            let data =
                format!(r#"{{"supported":{supported},"requested":"{}"}}"#, declared.unwrap_or_default());
            refused(400, &format!(r#""error":{{"code":-32022,"message":"unsupported","data":{data}}}"#))
        })
    }

    fn supported(&self) -> String {
        serde_json::json!(self.stateless).to_string()
    }

    fn cacheable(&self, members: &str) -> Reply {
        let ttl_ms = self.ttl_ms;
        self.result(&format!(
            r#"{{"resultType":"complete","ttlMs":{ttl_ms},"cacheScope":"private",{members},{SERVER_INFO}}}"#
        ))
    }

    fn subscription(&self) -> Reply {
        let id = r#""_meta":{"io.modelcontextprotocol/subscriptionId":$ID}"#;
        let acknowledged = format!(
            "data: {{\"jsonrpc\":\"2.0\",\"method\":\"notifications/subscriptions/acknowledged\",\
             \"params\":{{{id},\"notifications\":{{\"toolsListChanged\":true}}}}}}\n\n"
        );
        self.notices(acknowledged, &format!("{{{id}}}"))
    }
}

fn refused(status: u16, member: &str) -> Reply {
    let text = format!(r#"{{"jsonrpc":"2.0","id":$ID,{member}}}"#);
    Reply::status(status, &text).header("content-type", "application/json")
}
