//! The names of tools: every one is computed here and nowhere else.
//!
//! A call is routed by the stored mapping from name to tool, never by taking a name apart.

mod canonical;
mod listing;
mod shapes;
mod slug;

pub use canonical::{canonical_name, canonical_name_with_tail};
pub use listing::{canonical_names, canonical_names_beside, oxp_ids};
pub use shapes::{OxpToolId, melbis_unit, oxp_id, oxp_id_with_tail};
pub use slug::{Slug, SlugError};

use crate::limits::MAX_SERVED_NAME_CHARS;

/// Stands between an upstream's slug and a tool's own name.
pub const SEPARATOR: &str = "__";

/// `<slug>__<tool>`, joined as they are. It may be no valid name ([`is_valid_served_name`]).
///
/// Two different pairs never give one name: a slug neither holds nor ends in what would move its first separator.
pub fn namespaced_name(slug: &Slug, tool: &str) -> String {
    format!("{slug}{SEPARATOR}{tool}")
}

/// The name of the tool that agents have from the gateway itself. No other tool can be served under it.
pub const BUILT_IN_TOOL: &str = "tool_list";

/// Whether a tool can be served under this name: `^[A-Za-z0-9_-]{1,64}$`, but for [`BUILT_IN_TOOL`].
pub fn is_valid_served_name(name: &str) -> bool {
    name != BUILT_IN_TOOL
        && (1..=MAX_SERVED_NAME_CHARS).contains(&name.len())
        && name.chars().all(is_served_char)
}

fn is_served_char(character: char) -> bool {
    character.is_ascii_alphanumeric() || matches!(character, '_' | '-')
}
