//! The rulings about a tool that need no fingerprint.

use serde_json::value::RawValue;
use toolgate_api_proto::v1::{
    DisableToolRequest, Effect, EnableToolRequest, RenameToolRequest, RevokeToolApprovalRequest,
    SetToolDescriptionRequest, SetToolEffectRequest, Tool, UpdateToolLocksRequest,
};

use crate::args::Rule;
use crate::connection::{Connection, call};
use crate::console::Console;
use crate::error::CommandError;
use crate::render::{json, text};
use crate::tool::id;

/// A ruling that holds whatever the definition is.
pub(crate) enum Ruling {
    Revoke,
    Disable,
    Enable,
    /// The text of a JSON object.
    Lock(String),
    Unlock(Vec<String>),
    Effect(Effect),
    Describe(Option<String>),
    Rename(Option<String>),
}

impl Ruling {
    /// From words of the form `INPUT=JSON`. A value stays as it was typed.
    pub(crate) fn lock(inputs: &[String]) -> Result<Self, CommandError> {
        let mut members = Vec::with_capacity(inputs.len());
        for word in inputs {
            let (name, value) = word.split_once('=').ok_or_else(|| not_a_lock(word))?;
            let value = serde_json::from_str::<&RawValue>(value).map_err(|_| not_a_lock(word))?;
            members.push(format!("{}:{}", serde_json::Value::from(name), value.get()));
        }
        Ok(Self::Lock(format!("{{{}}}", members.join(","))))
    }

    /// A text that leaves nothing to read is taken for a wish to have none.
    pub(crate) fn describe(text: Option<String>) -> Result<Self, CommandError> {
        match text {
            Some(text) if text.trim().is_empty() => Err(CommandError::Usage {
                problem: "the description is blank".into(),
                hint: "--clear gives agents the upstream's own again".into(),
            }),
            text => Ok(Self::Describe(text)),
        }
    }

    pub(crate) async fn make(
        self,
        rule: Rule,
        json: bool,
        connection: &mut Connection,
        console: &mut Console<'_>,
    ) -> Result<(), CommandError> {
        let id = id(&rule.name, connection).await?;
        let past = self.past();
        let (tool, revision) = self.send(id, rule.dry_run, connection).await?;
        let tool = tool.ok_or(CommandError::Incomplete { field: "tool" })?;
        match json {
            true => json::print(console, &json::ToolAnswer::new(&tool, &revision)),
            false => {
                let done = format!("{past} {}", tool.namespaced_name);
                console.say(&text::ruled(&done, &tool, rule.dry_run))
            }
        }
    }

    async fn send(
        self,
        id: String,
        validate_only: bool,
        connection: &mut Connection,
    ) -> Result<(Option<Tool>, String), CommandError> {
        let client_id = connection.client_id.clone();
        let etag = String::new();
        let mut governance = connection.governance().await?;
        macro_rules! send {
            ($rpc:ident, $request:expr) => {{
                let response = governance.$rpc(call($request)).await?.into_inner();
                (response.tool, response.revision)
            }};
        }
        Ok(match self {
            Self::Revoke => {
                send!(revoke_tool_approval, RevokeToolApprovalRequest { id, client_id, etag, validate_only })
            }
            Self::Disable => send!(disable_tool, DisableToolRequest { id, client_id, etag, validate_only }),
            Self::Enable => send!(enable_tool, EnableToolRequest { id, client_id, etag, validate_only }),
            Self::Lock(set_json) => {
                let remove = Vec::new();
                send!(
                    update_tool_locks,
                    UpdateToolLocksRequest { id, client_id, set_json, etag, validate_only, remove }
                )
            }
            Self::Unlock(remove) => {
                let set_json = String::new();
                send!(
                    update_tool_locks,
                    UpdateToolLocksRequest { id, client_id, set_json, etag, validate_only, remove }
                )
            }
            Self::Effect(effect) => {
                let effect = effect.into();
                send!(set_tool_effect, SetToolEffectRequest { id, client_id, effect, etag, validate_only })
            }
            Self::Describe(description) => {
                send!(
                    set_tool_description,
                    SetToolDescriptionRequest { id, client_id, description, etag, validate_only }
                )
            }
            Self::Rename(served_name) => {
                send!(rename_tool, RenameToolRequest { id, client_id, served_name, etag, validate_only })
            }
        })
    }

    fn past(&self) -> &'static str {
        match self {
            Self::Revoke => "revoked the approval of",
            Self::Disable => "disabled",
            Self::Enable => "enabled",
            Self::Lock(_) => "locked inputs of",
            Self::Unlock(_) => "unlocked inputs of",
            Self::Effect(Effect::Unspecified) => "cleared the effect of",
            Self::Effect(_) => "set the effect of",
            Self::Describe(None) => "cleared the description of",
            Self::Describe(Some(_)) => "described",
            Self::Rename(None) => "cleared the name of what is now",
            Self::Rename(Some(_)) => "renamed to",
        }
    }
}

fn not_a_lock(word: &str) -> CommandError {
    CommandError::Usage {
        problem: format!("{word:?} is not INPUT=JSON"),
        hint: "a text needs its own quotes: toolgate tool lock NAME 'city=\"Oslo\"'".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lock(words: &[&str]) -> Result<String, CommandError> {
        let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        match Ruling::lock(&words)? {
            Ruling::Lock(text) => Ok(text),
            _ => unreachable!("lock makes locks"),
        }
    }

    #[test]
    fn a_locked_value_is_sent_as_it_was_typed() {
        let text = lock(&["n=9007199254740993.0", r#"a"b="x=y""#, "o={\"k\": [1, 1.0]}"]).unwrap();
        assert_eq!(text, r#"{"n":9007199254740993.0,"a\"b":"x=y","o":{"k": [1, 1.0]}}"#);
    }

    #[test]
    fn a_text_without_quotes_is_refused_with_a_hint() {
        for word in ["city=Oslo", "city", "city="] {
            assert!(matches!(lock(&[word]), Err(CommandError::Usage { .. })), "{word}");
        }
    }
}
