//! From what a server answers to a call to a result in MCP's shape.

use serde_json::json;
use toolgate_definition::{json::quote, scan};
use toolgate_upstream::ListingError;

use crate::entries::{member, string};

const FAILED: &str = "the tool failed, and did not say why";

/// The result of a call that was taken (200).
///
/// # Errors
/// The answer is none of OXP's.
pub(crate) fn result(answer: &str) -> Result<String, ListingError> {
    let broken = |what: &str| ListingError::Protocol(format!("the answer: {what}"));
    let members = scan::object(answer).map_err(|error| broken(&error.to_string()))?;
    let result = member(&members, "result").ok_or_else(|| broken("it has no `result`"))?;
    let result = scan::object(result).map_err(|error| broken(&error.to_string()))?;
    match member(&result, "success") {
        Some("true") => Ok(value(member(&result, "value"))),
        Some("false") => Ok(failure(member(&result, "error"))),
        _ => Err(broken("`success` is neither true nor false")),
    }
}

/// A text as the text, an object as structured content too, anything else as its JSON text.
fn value(value: Option<&str>) -> String {
    let Some(value) = value else { return r#"{"content":[]}"#.to_owned() };
    let text = if value.starts_with('"') { value.to_owned() } else { quote(value) };
    let content = format!(r#""content":[{{"type":"text","text":{text}}}]"#);
    match value.starts_with('{') {
        true => format!(r#"{{{content},"structuredContent":{value}}}"#),
        false => format!("{{{content}}}"),
    }
}

fn failure(error: Option<&str>) -> String {
    let members = error.and_then(|error| scan::object(error).ok()).unwrap_or_default();
    let said = |name| member(&members, name).and_then(string);
    let texts = [said("message"), said("additional_prompt_content")].into_iter().flatten();
    let text = texts.collect::<Vec<_>>().join("\n");
    failed(if text.is_empty() { FAILED } else { &text })
}

/// The result of a call whose input the server does not take (422).
pub(crate) fn invalid(answer: &str) -> String {
    let members = scan::object(answer).unwrap_or_default();
    let message = member(&members, "message").and_then(string).unwrap_or_else(|| "invalid input".to_owned());
    let errors = member(&members, "parameter_errors").and_then(|errors| scan::object(errors).ok());
    let errors = errors.unwrap_or_default().into_iter();
    let errors = errors.filter_map(|(name, problem)| Some(format!("{name}: {}", string(problem)?)));
    failed(&std::iter::once(message).chain(errors).collect::<Vec<_>>().join("\n"))
}

fn failed(text: &str) -> String {
    json!({"content": [{"type": "text", "text": text}], "isError": true}).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_a_result_as_it_is_spelt() {
        for (value, expected) in [
            (r#""\u0041""#, r#"{"content":[{"type":"text","text":"\u0041"}]}"#),
            (
                r#"{"n":1.0}"#,
                r#"{"content":[{"type":"text","text":"{\"n\":1.0}"}],"structuredContent":{"n":1.0}}"#,
            ),
            ("9007199254740993", r#"{"content":[{"type":"text","text":"9007199254740993"}]}"#),
            ("null", r#"{"content":[{"type":"text","text":"null"}]}"#),
        ] {
            let answer = format!(
                r#"{{"$schema":"urn:oxp:1.0","result":{{"call_id":"c","success":true,"value":{value}}}}}"#
            );
            assert_eq!(result(&answer).unwrap(), expected);
        }
        assert_eq!(result(r#"{"result":{"success":true}}"#).unwrap(), r#"{"content":[]}"#);
    }

    #[test]
    fn a_failure_is_a_result_that_says_so() {
        let text = |result: &str| {
            let result: serde_json::Value = serde_json::from_str(result).unwrap();
            assert_eq!(result["isError"], true);
            result["content"][0]["text"].as_str().unwrap().to_owned()
        };
        let failed = r#"{"result":{"success":false,"error":{"message":"no disk","additional_prompt_content":"Try B."}}}"#;
        assert_eq!(text(&result(failed).unwrap()), "no disk\nTry B.");
        assert_eq!(text(&result(r#"{"result":{"success":false}}"#).unwrap()), FAILED);
        let unfit = r#"{"message":"bad","parameter_errors":{"a":"is missing"}}"#;
        assert_eq!(text(&invalid(unfit)), "bad\na: is missing");
    }

    #[test]
    fn anything_else_is_no_answer() {
        for answer in ["", "{}", r#"{"result":7}"#, r#"{"result":{}}"#, r#"{"result":{"success":"true"}}"#] {
            assert!(matches!(result(answer), Err(ListingError::Protocol(_))), "{answer}");
        }
    }
}
