//! Tokens that callers carry and cannot read: revisions, page cursors, entity tags, sessions.
//!
//! The text of a token is base64 (URL-safe alphabet, no padding, RFC 4648 section 5) of a version byte and
//! AES-256-GCM-SIV of the content. The associated data is the version, the client's id and the kind's label.
//! The same content gives the same text (law 13), which is why the nonce is fixed for a client: AES-GCM-SIV
//! stays safe when a nonce repeats (RFC 8452, section 9) and shows then only that two contents are equal,
//! which is wanted here. The length of the content shows as well, so a number is sealed at a fixed width.

use aes_gcm_siv::Nonce;
use aes_gcm_siv::aead::{Aead, Payload};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

use crate::sealer::Sealer;

const VERSION: u8 = 1;
const NONCE_BYTES: usize = 12;

/// What a token stands for. A token of one kind never opens as another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TokenKind {
    /// A point in the history of a client's data.
    Revision,
    /// Where the next page of a list begins.
    Page,
    /// The identity of a whole answer.
    Etag,
    /// A session of an agent. It belongs to a credential, whose digest stands in the place of the client's id.
    Session,
    /// What an upstream asked for before it could give the result of a call.
    Question,
}

impl TokenKind {
    /// Part of the format: a changed label makes every token of the kind that is in use worthless.
    fn label(self) -> &'static [u8] {
        match self {
            Self::Revision => b"revision",
            Self::Page => b"page",
            Self::Etag => b"etag",
            Self::Session => b"session",
            Self::Question => b"question",
        }
    }
}

/// The text is not a token of this kind for this client. It is one error for every cause, so that it tells
/// nothing about another client's tokens (law 10).
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("token: not one that was given out here: start again without it")]
pub struct TokenError;

impl Sealer {
    /// Seals `plain` for `client`; the same arguments give the same text. The text is
    /// `4 * (plain.len() + 17) / 3` characters long, rounded up.
    #[must_use]
    pub fn seal_token(&self, kind: TokenKind, client: &[u8; 16], plain: &[u8]) -> String {
        let payload = Payload { msg: plain, aad: &associated_data(kind, client) };
        let sealed = self.tokens.encrypt(&nonce(client), payload).expect("a token is shorter than 64 GiB");
        URL_SAFE_NO_PAD.encode([&[VERSION], sealed.as_slice()].concat())
    }

    /// Gives back the content of a token of this kind sealed for this client. The cost grows with the text;
    /// the transports bound that.
    ///
    /// # Errors
    /// [`TokenError`], whatever is wrong.
    pub fn open_token(&self, kind: TokenKind, client: &[u8; 16], text: &str) -> Result<Vec<u8>, TokenError> {
        let bytes = URL_SAFE_NO_PAD.decode(text).map_err(|_| TokenError)?;
        let Some((&VERSION, sealed)) = bytes.split_first() else { return Err(TokenError) };
        let payload = Payload { msg: sealed, aad: &associated_data(kind, client) };
        self.tokens.decrypt(&nonce(client), payload).map_err(|_| TokenError)
    }
}

/// Unambiguous, for only the last part varies in length.
fn associated_data(kind: TokenKind, client: &[u8; 16]) -> Vec<u8> {
    [&[VERSION], client.as_slice(), kind.label()].concat()
}

/// The tail of the client's id, the random end of a UUID: it spreads the tokens of all clients over many
/// nonces.
fn nonce(client: &[u8; 16]) -> Nonce {
    let (_, tail) = client.split_last_chunk::<NONCE_BYTES>().expect("an id is longer than a nonce");
    Nonce::from(*tail)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::MasterKey;

    const CLIENT: [u8; 16] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15];
    const KINDS: [TokenKind; 5] =
        [TokenKind::Revision, TokenKind::Page, TokenKind::Etag, TokenKind::Session, TokenKind::Question];

    fn sealer() -> Sealer {
        Sealer::new(&MasterKey::from_bytes(&std::array::from_fn(|index| u8::try_from(index).unwrap())))
    }

    fn kind() -> impl Strategy<Value = TokenKind> {
        prop::sample::select(KINDS.as_slice())
    }

    /// Checked with another implementation of RFC 5869 and RFC 8452. A change here invalidates the tokens
    /// that callers hold.
    #[test]
    fn the_format_of_tokens_stands_still() {
        let golden = [
            (TokenKind::Revision, b"\0\0\0\0\0\0\0\x07".as_slice(), "AfukLa2hb2wBZ2k1_cyw2hDEwUEJLFoBlg"),
            (TokenKind::Page, b"", "AQofMegNZ-GZEBhUU4A-Ark"),
            (
                TokenKind::Page,
                b"upstream-17\0read_file",
                "AUVjPm9GIXt4lZGNVYyD8_gb02qsVbMGheMUqNCYTFrSHwiij-s",
            ),
            (TokenKind::Etag, &[0xff; 16], "ASZ5sTgQufuF0F-5Me_6tZmWcjV2ENbUx2lUCfuQMFFB"),
            (
                TokenKind::Session,
                b"\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x002025-11-25",
                "AXxXwY89g45hU3Gqcxn026Rk45qXe5hgWm_Z79WI2XjTPio1Ov8UzTcOkQ",
            ),
        ];
        for (kind, plain, text) in golden {
            assert_eq!(sealer().seal_token(kind, &CLIENT, plain), text, "{kind:?}");
            assert_eq!(sealer().open_token(kind, &CLIENT, text).unwrap(), plain);
        }
    }

    #[test]
    fn law_10_another_client_or_kind_gets_the_error_of_nonsense() {
        let text = sealer().seal_token(TokenKind::Revision, &CLIENT, b"42");
        let mut neighbour = CLIENT;
        neighbour[0] ^= 1; // outside the nonce
        for (kind, client, text) in [
            (TokenKind::Revision, &neighbour, text.as_str()),
            (TokenKind::Revision, &[9; 16], text.as_str()),
            (TokenKind::Page, &CLIENT, text.as_str()),
            (TokenKind::Revision, &CLIENT, "nonsense"),
            (TokenKind::Revision, &CLIENT, "not base64!"),
            (TokenKind::Revision, &CLIENT, ""),
        ] {
            assert_eq!(sealer().open_token(kind, client, text), Err(TokenError));
        }
    }

    #[test]
    fn another_master_key_does_not_open() {
        let text = Sealer::new(&MasterKey::ephemeral()).seal_token(TokenKind::Page, &CLIENT, b"x");
        assert_eq!(sealer().open_token(TokenKind::Page, &CLIENT, &text), Err(TokenError));
    }

    #[test]
    fn no_other_spelling_of_a_token_opens() {
        let text = sealer().seal_token(TokenKind::Page, &CLIENT, b"12345");
        for other in [format!("{text}="), format!("{text}=="), format!("{text}\n"), format!(" {text}")] {
            assert_eq!(sealer().open_token(TokenKind::Page, &CLIENT, &other), Err(TokenError), "{other:?}");
        }
    }

    proptest! {
        #[test]
        fn law_13_the_same_content_gives_the_same_token(kind in kind(), client: [u8; 16], plain: Vec<u8>) {
            let text = sealer().seal_token(kind, &client, &plain);
            prop_assert_eq!(&text, &sealer().seal_token(kind, &client, &plain));
            prop_assert!(text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte)));
            prop_assert_eq!(sealer().open_token(kind, &client, &text).unwrap(), plain);
        }

        #[test]
        fn any_changed_character_is_refused(
            plain in prop::collection::vec(any::<u8>(), 0..40), at: prop::sample::Index, with in "[A-Za-z0-9_-]",
        ) {
            let text = sealer().seal_token(TokenKind::Page, &CLIENT, &plain);
            let at = at.index(text.len());
            let altered = format!("{}{with}{}", &text[..at], &text[at + 1..]);
            prop_assume!(altered != text);
            prop_assert_eq!(sealer().open_token(TokenKind::Page, &CLIENT, &altered), Err(TokenError));
            prop_assert_eq!(sealer().open_token(TokenKind::Page, &CLIENT, &text[..at]), Err(TokenError));
        }

        #[test]
        fn any_text_is_refused_without_harm(text: String) {
            prop_assert_eq!(sealer().open_token(TokenKind::Page, &CLIENT, &text), Err(TokenError));
        }
    }
}
