//! Names in the documented shapes, beside the canonical one: OXP ids and Melbis units.

use super::Slug;
use super::canonical::tail;

/// `Toolkit.Tool`, an OXP id without its version (`@x.y.z` follows it): the slug and the tool's own name, each character
/// outside `[A-Za-z0-9_]` replaced by one `_`.
///
/// Two tools of one upstream may share it; [`oxp_ids`](super::oxp_ids) tells them apart.
pub fn oxp_id(slug: &Slug, tool: &str) -> String {
    format!("{}.{}", slug.folded(), folded(tool))
}

/// The [`oxp_id`], `_`, and the 8 hexadecimal digits of the tail that the canonical name would take.
pub fn oxp_id_with_tail(slug: &Slug, tool: &str) -> String {
    format!("{}_{}", oxp_id(slug, tool), tail(slug.as_str(), tool))
}

/// Whether folding changes nothing in a tool's own name, so that it keeps the plain id on a clash.
pub(super) fn reads_as_oxp(tool: &str) -> bool {
    tool.chars().all(is_oxp_char)
}

/// The Melbis unit of an upstream: `MCP_` and its slug in upper case, `-` as `_`. `^[A-Z][A-Z0-9_]*$`, and its own within
/// a client, where folded slugs differ.
pub fn melbis_unit(slug: &Slug) -> String {
    format!("MCP_{}", slug.folded().to_ascii_uppercase())
}

fn folded(name: &str) -> String {
    name.chars().map(|character| if is_oxp_char(character) { character } else { '_' }).collect()
}

fn is_oxp_char(character: char) -> bool {
    character.is_ascii_alphanumeric() || character == '_'
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_and_units_are_folded() {
        let slug: Slug = "my-server_2".parse().expect("a slug");
        for (tool, id) in [
            ("create_issue", "my_server_2.create_issue"),
            ("files.read-all", "my_server_2.files_read_all"),
            ("søk/alt", "my_server_2.s_k_alt"),
            ("日本", "my_server_2.__"),
        ] {
            assert_eq!(oxp_id(&slug, tool), id);
        }
        let slug: Slug = "srv".parse().expect("a slug");
        assert_eq!(oxp_id_with_tail(&slug, "a_b"), "srv.a_b_5c15ffbd");
        assert_eq!(melbis_unit(&"my-server_2".parse().expect("a slug")), "MCP_MY_SERVER_2");
    }
}
