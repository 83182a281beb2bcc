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

/// What a caller names a tool by in OXP: `Toolkit.Tool`, with `@x` for `@x.0.0`, with `@x.y.z`, or without a version.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OxpToolId<'t> {
    /// The id without its version, as [`oxp_ids`](super::oxp_ids) has it.
    pub id: &'t str,
    /// The version that is asked for, if one is.
    pub version: Option<[u64; 3]>,
}

impl<'t> OxpToolId<'t> {
    /// Reads `^[A-Za-z0-9_]+\.[A-Za-z0-9_]+(@([0-9]+|[0-9]+\.[0-9]+\.[0-9]+))?$`; `None` for anything else.
    pub fn parse(text: &'t str) -> Option<Self> {
        let (id, version) = match text.split_once('@') {
            Some((id, version)) => (id, Some(oxp_version(version)?)),
            None => (text, None),
        };
        let mut parts = id.split('.');
        let is_part = |part: Option<&str>| part.is_some_and(|part| !part.is_empty() && reads_as_oxp(part));
        let is_id = is_part(parts.next()) && is_part(parts.next()) && parts.next().is_none();
        is_id.then_some(Self { id, version })
    }
}

fn oxp_version(text: &str) -> Option<[u64; 3]> {
    let number = |part: &str| {
        let is_number = !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
        // No version is as large as what does not fit.
        is_number.then(|| part.parse().unwrap_or(u64::MAX))
    };
    let parts: Vec<u64> = text.split('.').map(number).collect::<Option<_>>()?;
    match parts[..] {
        [x] => Some([x, 0, 0]),
        [x, y, z] => Some([x, y, z]),
        _ => None,
    }
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

    #[test]
    fn an_id_is_read_with_each_documented_version_and_no_other() {
        for (text, id, version) in [
            ("A.b", "A.b", None),
            ("A_1.b_2@1", "A_1.b_2", Some([1, 0, 0])),
            ("A.b@1.2.03", "A.b", Some([1, 2, 3])),
            ("A.b@99999999999999999999", "A.b", Some([u64::MAX, 0, 0])),
        ] {
            assert_eq!(OxpToolId::parse(text), Some(OxpToolId { id, version }), "{text}");
        }
        for text in [
            "",
            "A",
            ".b",
            "A.",
            "A.b.c",
            "A-a.b",
            "A.b@",
            "A.b@1.0",
            "A.b@1.0.0.0",
            "A.b@v1",
            "A.b@1@1",
            "A.b@+1",
        ] {
            assert_eq!(OxpToolId::parse(text), None, "{text}");
        }
    }
}
