use jsonschema::Draft;

use crate::json::Node;

/// The dialect that a schema's `$schema` names, with or without the `#` at its end; 2020-12 where there is none (MCP's
/// default), `None` for one that is unknown.
pub(crate) fn dialect(root: Node<'_>) -> Option<Draft> {
    let Some(named) = root.get("$schema") else { return Some(Draft::Draft202012) };
    let named = named.as_str()?;
    let bare = named.trim_end_matches('#');
    let bare = bare.strip_prefix("https://").or_else(|| bare.strip_prefix("http://")).unwrap_or(bare);
    match bare {
        "json-schema.org/draft/2020-12/schema" => Some(Draft::Draft202012),
        "json-schema.org/draft/2019-09/schema" => Some(Draft::Draft201909),
        "json-schema.org/draft-07/schema" => Some(Draft::Draft7),
        "json-schema.org/draft-06/schema" => Some(Draft::Draft6),
        "json-schema.org/draft-04/schema" => Some(Draft::Draft4),
        _ => None,
    }
}
