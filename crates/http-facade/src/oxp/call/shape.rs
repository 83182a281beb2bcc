//! `CallToolResponse`, made of MCP's result. What becomes its value is copied as the text that it is.

use toolgate_definition::json::ParseError;
use toolgate_definition::scan;

use crate::json::Object;

const SAID_NOTHING: &str = "the tool failed, and did not say why";
const WANTS_INPUT: &str = "the tool asks for more, and OXP has no way to give it";

/// The body of a 200, for a call that brought `result`.
///
/// # Errors
/// The result is no JSON object.
pub(super) fn render(call_id: &str, result: &str) -> Result<Vec<u8>, ParseError> {
    let result = CallResult::read(result)?;
    let mut out = Vec::new();
    let mut body = Object::open(&mut out);
    body.text("$schema", crate::oxp::SCHEMA);
    let mut call = Object::open(body.member("result"));
    call.text("call_id", call_id);
    match result.failure() {
        Some(message) => {
            call.raw("success", "false");
            let mut error = Object::open(call.member("error"));
            error.text("message", &message);
            error.close();
        }
        None => {
            call.raw("success", "true");
            if let Some(value) = result.value() {
                call.raw("value", value);
            }
        }
    }
    call.close();
    body.close();
    Ok(out)
}

/// The members of a result that count here, as their exact texts.
struct CallResult<'r> {
    is_error: bool,
    wants_input: bool,
    structured: Option<&'r str>,
    content: Option<&'r str>,
}

impl<'r> CallResult<'r> {
    fn read(result: &'r str) -> Result<Self, ParseError> {
        let members = scan::object(result)?;
        let get = |name: &str| members.iter().find(|(found, _)| found == name).map(|(_, value)| *value);
        let is_complete = |kind: &str| text(kind).is_none_or(|kind| kind == "complete");
        Ok(Self {
            is_error: get("isError") == Some("true"),
            wants_input: !get("resultType").is_none_or(is_complete),
            structured: get("structuredContent").filter(|value| *value != "null"),
            content: get("content"),
        })
    }

    /// What is said of a tool that failed.
    fn failure(&self) -> Option<String> {
        if self.wants_input {
            return Some(WANTS_INPUT.to_owned());
        }
        let said = || self.blocks().into_iter().filter_map(text_of).filter_map(text).collect::<Vec<_>>();
        let said = self.is_error.then(|| said().join("\n"))?;
        Some(if said.is_empty() { SAID_NOTHING.to_owned() } else { said })
    }

    /// The structured content; without it, the text of the one block that is all there is, else all blocks; absent where there are
    /// none.
    fn value(&self) -> Option<&'r str> {
        self.structured.or_else(|| match self.blocks()[..] {
            [] => None,
            [block] => text_of(block).or(self.content),
            _ => self.content,
        })
    }

    fn blocks(&self) -> Vec<&'r str> {
        self.content
            .and_then(|content| scan::elements(content).collect::<Result<_, _>>().ok())
            .unwrap_or_default()
    }
}

/// The text of a text block, as JSON.
fn text_of(block: &str) -> Option<&str> {
    let members = scan::object(block).ok()?;
    let get = |name: &str| members.iter().find(|(found, _)| found == name).map(|(_, value)| *value);
    (text(get("type")?)? == "text").then(|| get("text").filter(|text| text.starts_with('"')))?
}

fn text(json: &str) -> Option<String> {
    serde_json::from_str(json).ok()
}
