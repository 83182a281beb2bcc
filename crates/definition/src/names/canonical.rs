//! The name that is always valid, and the one that tells two such names apart.

use sha2::{Digest, Sha256};

use super::{SEPARATOR, is_served_char};
use crate::limits::{CANONICAL_HEAD_CHARS, CANONICAL_TAIL_DIGITS, MAX_SERVED_NAME_CHARS};

/// `<server>__<tool>` with each character outside `[A-Za-z0-9_-]` replaced by one `_`, cut to its first 64 characters.
///
/// Always a valid served name; two tools may share it, then one takes [`canonical_name_with_tail`].
pub fn canonical_name(server: &str, tool: &str) -> String {
    joined(server, tool, MAX_SERVED_NAME_CHARS)
}

/// The first 55 characters of the canonical name, `_`, and the first 8 hexadecimal digits of
/// SHA-256(`server`, a zero byte, `tool`). It depends on this pair alone.
pub fn canonical_name_with_tail(server: &str, tool: &str) -> String {
    format!("{}_{}", joined(server, tool, CANONICAL_HEAD_CHARS), tail(server, tool))
}

/// The hexadecimal digits that tell this pair from others.
pub(super) fn tail(server: &str, tool: &str) -> String {
    let digest = Sha256::new().chain_update(server).chain_update([0]).chain_update(tool).finalize();
    digest[..CANONICAL_TAIL_DIGITS / 2].iter().map(|byte| format!("{byte:02x}")).collect()
}

fn joined(server: &str, tool: &str, max_chars: usize) -> String {
    let served = |character| if is_served_char(character) { character } else { '_' };
    server.chars().chain(SEPARATOR.chars()).chain(tool.chars()).map(served).take(max_chars).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::names::{Slug, is_valid_served_name, namespaced_name};

    #[test]
    fn canonical_names_are_repaired_and_cut() {
        let (s40, t40, s70) = ("s".repeat(40), "t".repeat(40), "s".repeat(70));
        for (server, tool, name) in [
            ("github", "create_issue", "github__create_issue"),
            ("my server", "files.read", "my_server__files_read"),
            ("acme", "søk/alt", "acme__s_k_alt"),
            (&s40, &t40, &format!("{s40}__{}", &t40[..22])),
            (&s70, "x", &s70[..64]),
            ("a_", "_b", "a____b"),
            ("srv", "a.b", "srv__a_b"),
            ("srv", "a_b", "srv__a_b"),
        ] {
            assert_eq!(canonical_name(server, tool), name);
        }
    }

    #[test]
    fn a_tail_tells_two_equal_names_apart() {
        assert_eq!(canonical_name_with_tail("srv", "a_b"), "srv__a_b_5c15ffbd");
        assert_ne!(canonical_name_with_tail("srv", "a.b"), canonical_name_with_tail("srv", "a_b"));
        assert_eq!(canonical_name_with_tail(&"s".repeat(70), "x").len(), 64);
    }

    fn slug() -> impl Strategy<Value = Slug> {
        "[a-c](_?[a-c]){0,3}".prop_map(|text| text.parse().expect("the pattern gives slugs"))
    }

    proptest! {
        #[test]
        fn canonical_names_are_always_valid(server in any::<String>(), tool in any::<String>()) {
            prop_assert!(is_valid_served_name(&canonical_name(&server, &tool)));
            prop_assert!(is_valid_served_name(&canonical_name_with_tail(&server, &tool)));
        }

        #[test]
        fn two_tools_never_share_a_namespaced_name(
            left in (slug(), "[a-c_]{1,6}"),
            right in (slug(), "[a-c_]{1,6}"),
        ) {
            let same_name = namespaced_name(&left.0, &left.1) == namespaced_name(&right.0, &right.1);
            prop_assert_eq!(same_name, left == right);
        }
    }
}
