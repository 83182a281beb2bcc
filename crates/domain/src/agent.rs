//! An agent: a consumer of tools, and what is attached to it.

use std::{collections::BTreeSet, sync::Arc};

use toolgate_definition::{
    json::{Document, Kind, ParseLimits},
    names::Slug,
};

use crate::{
    AgentId, AttachmentId, ClientId, Moment, UpstreamId, Violation,
    decision::Reach,
    free_text::{NOT_PLAIN, is_plain},
    limits,
};

/// A consumer of tools, as declared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Agent {
    /// Identity.
    pub id: AgentId,
    /// The tenant that owns it.
    pub client: ClientId,
    /// Unique in its client.
    pub name: Slug,
    /// Free text for people.
    pub display_name: String,
    /// When it was made.
    pub created_at: Moment,
    /// When it was made, or what is attached to it last changed.
    pub updated_at: Moment,
    /// In order of attachment. One whose upstream was deleted is void: it counts as absent, whoever looks.
    pub attachments: Vec<Attachment>,
}

/// Something attached to an agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attachment {
    /// Identity.
    pub id: AttachmentId,
    /// Unique in its agent: an MCP attachment bears its upstream's slug.
    pub name: String,
    /// What it is.
    pub kind: AttachmentKind,
    /// Free text for people.
    pub display_name: String,
    /// What it is good for.
    pub description: String,
    /// When it was attached.
    pub created_at: Moment,
}

/// What can be attached. Only the first kind reaches tools; the others are kept for the agent's own runtime.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AttachmentKind {
    /// An upstream with its served tools.
    Mcp(UpstreamId),
    /// A function of the agent's runtime.
    Function {
        /// The JSON Schema of its parameters, exactly as given; empty for none.
        parameters: String,
    },
    /// A store of files that the agent's runtime searches.
    FileSearch {
        /// The store's name there.
        vector_store_id: String,
    },
}

impl AttachmentKind {
    /// As the documented shapes name it.
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Mcp(_) => "mcp",
            Self::Function { .. } => "function",
            Self::FileSearch { .. } => "file_search",
        }
    }
}

impl Agent {
    /// What it reaches.
    pub fn reach(&self) -> Reach {
        let upstreams = self.attachments.iter().filter_map(Attachment::upstream);
        Reach::Attached(Arc::new(upstreams.collect::<BTreeSet<_>>()))
    }

    /// Bytes of everything that is attached, as its row counts them.
    pub fn attachment_bytes(&self) -> usize {
        self.attachments.iter().map(Attachment::len_bytes).sum()
    }
}

impl Attachment {
    /// The upstream that it attaches.
    pub fn upstream(&self) -> Option<UpstreamId> {
        match self.kind {
            AttachmentKind::Mcp(upstream) => Some(upstream),
            AttachmentKind::Function { .. } | AttachmentKind::FileSearch { .. } => None,
        }
    }

    /// About what it takes in a row and on the wire, and seldom more.
    pub fn len_bytes(&self) -> usize {
        /// Ids, times and field tags.
        const FIXED_BYTES: usize = 160;
        let own = match &self.kind {
            AttachmentKind::Mcp(_) => 0,
            AttachmentKind::Function { parameters } => parameters.len(),
            AttachmentKind::FileSearch { vector_store_id } => vector_store_id.len(),
        };
        FIXED_BYTES + self.name.len() + self.display_name.len() + self.description.len() + own
    }

    /// What is wrong with it, whatever it is attached to; fields are named as in the request to attach it.
    pub fn violations(&self) -> Vec<Violation> {
        let mut found = Vec::new();
        if !is_attachment_name(&self.name) {
            let most = limits::MAX_ATTACHMENT_NAME_CHARS;
            found.push(Violation::new("name", format!("must be 1 to {most} characters of A-Z a-z 0-9 _ -")));
        }
        readable(&mut found, "display_name", &self.display_name, limits::MAX_ATTACHMENT_DISPLAY_NAME_CHARS);
        readable(&mut found, "description", &self.description, limits::MAX_DESCRIPTION_CHARS);
        match &self.kind {
            AttachmentKind::Mcp(_) => {}
            AttachmentKind::Function { parameters } => found.extend(parameters_violation(parameters)),
            AttachmentKind::FileSearch { vector_store_id } if vector_store_id.is_empty() => {
                found.push(Violation::new("vector_store_id", "is required with FILE_SEARCH"));
            }
            AttachmentKind::FileSearch { vector_store_id } => {
                readable(&mut found, "vector_store_id", vector_store_id, limits::MAX_VECTOR_STORE_ID_CHARS);
            }
        }
        found
    }
}

fn is_attachment_name(name: &str) -> bool {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    !name.is_empty() && name.len() <= limits::MAX_ATTACHMENT_NAME_CHARS && name.bytes().all(allowed)
}

/// Texts for people and models: neither too long nor misleading.
fn readable(found: &mut Vec<Violation>, field: &str, text: &str, max_chars: usize) {
    if text.chars().count() > max_chars {
        found.push(Violation::new(field, format!("is longer than {max_chars} characters")));
    } else if !is_plain(text) {
        found.push(Violation::new(field, NOT_PLAIN));
    }
}

fn parameters_violation(text: &str) -> Option<Violation> {
    const PARAMETERS: ParseLimits = ParseLimits {
        max_bytes: limits::MAX_FUNCTION_PARAMETERS_BYTES,
        max_depth: toolgate_definition::limits::MAX_DEFINITION_DEPTH,
    };
    if text.is_empty() {
        return None;
    }
    let problem = match Document::parse(text, &PARAMETERS) {
        Ok(document) if document.root().kind() == Kind::Object => return None,
        Ok(_) => "is not a JSON object".to_owned(),
        Err(error) => format!("is not taken: {error}"),
    };
    Some(Violation::new("parameters_json", problem))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn attachment(name: &str, kind: AttachmentKind) -> Attachment {
        Attachment {
            id: AttachmentId::from_bytes([1; 16]),
            name: name.into(),
            kind,
            display_name: String::new(),
            description: String::new(),
            created_at: Moment::default(),
        }
    }

    fn function(parameters: &str) -> Attachment {
        attachment("f", AttachmentKind::Function { parameters: parameters.into() })
    }

    #[test]
    fn an_attachment_that_no_agent_could_have_is_refused_by_its_fields() {
        let fields = |attachment: &Attachment| {
            attachment.violations().into_iter().map(|violation| violation.field).collect::<Vec<_>>()
        };
        let mcp = AttachmentKind::Mcp(UpstreamId::from_bytes([2; 16]));
        for name in ["", "a b", "ü", &"x".repeat(129)] {
            assert_eq!(fields(&attachment(name, mcp.clone())), ["name"], "{name}");
        }
        for parameters in ["[]", "{", r#"{"a":1,"a":2}"#, &format!("{{\"a\":\"{}\"}}", "x".repeat(65_536))] {
            assert_eq!(fields(&function(parameters)), ["parameters_json"]);
        }
        let store = AttachmentKind::FileSearch { vector_store_id: String::new() };
        assert_eq!(fields(&attachment("s", store)), ["vector_store_id"]);
        let long = Attachment {
            display_name: "ü".repeat(257),
            description: "x".repeat(4097),
            ..attachment("a", mcp.clone())
        };
        let misleading = Attachment {
            display_name: "a\u{202e}b".into(),
            description: "\u{1b}[2J".into(),
            ..attachment("a", mcp.clone())
        };
        for wrong in [long, misleading] {
            assert_eq!(fields(&wrong), ["display_name", "description"]);
        }
        for right in [attachment(&"x".repeat(128), mcp), function(""), function(" {\"type\": \"object\"} ")] {
            assert_eq!(fields(&right), Vec::<String>::new());
        }
    }

    #[test]
    fn only_attached_upstreams_are_reached() {
        let [one, other] = [2, 3].map(|byte| UpstreamId::from_bytes([byte; 16]));
        let agent = Agent {
            id: AgentId::from_bytes([4; 16]),
            client: ClientId::from_bytes([5; 16]),
            name: "a".parse().unwrap(),
            display_name: String::new(),
            created_at: Moment::default(),
            updated_at: Moment::default(),
            attachments: vec![function(""), attachment("one", AttachmentKind::Mcp(one))],
        };
        assert!(agent.reach().includes(one) && !agent.reach().includes(other));
    }
}
