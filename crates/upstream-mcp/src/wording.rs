//! What may be told of a server's own words. Every text that leaves this crate passes through here, once.

use std::net::{IpAddr, SocketAddr};

use toolgate_upstream::{Endpoint, Incomplete, Listing, ListingEnd, ListingError};

use crate::limits::{MAX_CHALLENGE_CHARS, MAX_MESSAGE_CHARS, MAX_SERVER_NAME_CHARS};

/// Shorter secrets are not looked for: they would be found everywhere.
const MIN_SECRET_BYTES: usize = 8;

/// Cleans texts of one server of what they may echo.
#[derive(Clone)]
pub(crate) struct Wording {
    secrets: Vec<String>,
}

impl std::fmt::Debug for Wording {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Wording")
    }
}

impl Wording {
    /// Knows the endpoint's header or environment values, whole and word by word (`Bearer …`).
    pub(crate) fn new(endpoint: &Endpoint) -> Self {
        let (Endpoint::Http { headers: secrets, .. }
        | Endpoint::Oxp { headers: secrets, .. }
        | Endpoint::Stdio { env: secrets, .. }) = endpoint;
        let whole = secrets.iter().map(|(_, secret)| secret.expose());
        let words = whole.clone().flat_map(str::split_whitespace);
        let mut secrets: Vec<_> =
            whole.chain(words).filter(|s| s.len() >= MIN_SECRET_BYTES).map(str::to_owned).collect();
        secrets.sort_by_key(|secret| std::cmp::Reverse(secret.len()));
        Self { secrets }
    }

    /// The listing, with nothing in its texts that must not leave. Its entries are not texts but data: they stay exact.
    pub(crate) fn clean_listing(&self, mut listing: Listing) -> Listing {
        let name = listing.server_name.map(|name| plain(&self.hide_secrets(&name), MAX_SERVER_NAME_CHARS));
        listing.server_name = name;
        if let ListingEnd::Incomplete(Incomplete::Page { page, error }) = listing.end {
            listing.end = ListingEnd::Incomplete(Incomplete::Page { page, error: self.clean_error(error) });
        }
        listing
    }

    /// The error, with nothing in its texts that must not leave.
    pub(crate) fn clean_error(&self, error: ListingError) -> ListingError {
        match error {
            ListingError::Rpc { code, message } => ListingError::Rpc { code, message: self.clean(&message) },
            ListingError::Protocol(text) => ListingError::Protocol(self.clean(&text)),
            ListingError::MissingCapability { capabilities_json } => {
                let is_clean = self.hide_secrets(&capabilities_json) == capabilities_json;
                let capabilities_json = if is_clean { capabilities_json } else { "{}".to_owned() };
                ListingError::MissingCapability { capabilities_json }
            }
            // The addresses of a challenge are its point.
            ListingError::Unauthorized { status, challenge } => {
                let challenge = challenge.map(|text| plain(&self.hide_secrets(&text), MAX_CHALLENGE_CHARS));
                ListingError::Unauthorized { status, challenge }
            }
            ours @ (ListingError::Refused(_)
            | ListingError::Connect(_)
            | ListingError::Timeout(_)
            | ListingError::Status(_)
            | ListingError::TooLarge(_)) => ours,
        }
    }

    /// Without secrets, then without addresses, then cut: a secret that is cut first would not be found.
    fn clean(&self, text: &str) -> String {
        plain(&hide_addresses(&self.hide_secrets(text)), MAX_MESSAGE_CHARS)
    }

    fn hide_secrets(&self, text: &str) -> String {
        self.secrets.iter().fold(text.to_owned(), |text, secret| text.replace(secret, "[hidden]"))
    }
}

/// Without control characters, cut to `max_chars`.
fn plain(text: &str, max_chars: usize) -> String {
    text.chars().take(max_chars).map(|c| if c.is_control() { ' ' } else { c }).collect()
}

fn hide_addresses(text: &str) -> String {
    map_runs(
        text,
        |c| !(c.is_whitespace() || "\"'`()<>{},;|".contains(c)),
        |word| match word.contains("://") {
            true => "[address]".to_owned(),
            false => map_runs(word, |c| c.is_alphanumeric() || ".:[]%_-".contains(c), hide_host),
        },
    )
}

fn hide_host(word: &str) -> String {
    let bare = word.trim_end_matches(['.', ':', '-']);
    match is_address(bare) {
        true => format!("[address]{}", &word[bare.len()..]),
        false => word.to_owned(),
    }
}

/// An IP address, or a host with its port.
fn is_address(word: &str) -> bool {
    let has_port = |(host, port): (&str, &str)| {
        (host.contains('.') || host == "localhost") && port.parse::<u16>().is_ok()
    };
    word.parse::<IpAddr>().is_ok()
        || word.parse::<SocketAddr>().is_ok()
        || word.rsplit_once(':').is_some_and(has_port)
}

/// Puts each longest run of characters that are `inside` through `change` and keeps what is between them.
fn map_runs(text: &str, inside: impl Fn(char) -> bool, change: impl Fn(&str) -> String) -> String {
    let mut changed = String::with_capacity(text.len());
    let mut rest = text;
    while !rest.is_empty() {
        let (run, after) = rest.split_at(rest.find(|c| !inside(c)).unwrap_or(rest.len()));
        let (between, after) = after.split_at(after.find(&inside).unwrap_or(after.len()));
        if !run.is_empty() {
            changed.push_str(&change(run));
        }
        changed.push_str(between);
        rest = after;
    }
    changed
}

#[cfg(test)]
mod tests {
    use toolgate_upstream::Secret;

    use super::*;

    fn wording(secret: &str) -> Wording {
        let headers = vec![("authorization".to_owned(), Secret::new(secret))];
        Wording::new(&Endpoint::Http { url: String::new(), headers, allow_private: false })
    }

    // law 12
    #[test]
    fn an_echoed_credential_is_hidden_whole_or_in_part() {
        let wording = wording("Bearer s3cr3t-token");
        let text = "bad header: Bearer s3cr3t-token; token s3cr3t-token, realm=s3cr3t-token";
        assert_eq!(wording.clean(text), "bad header: [hidden]; token [hidden], realm=[hidden]");
        assert_eq!(wording.hide_secrets("Bearer error=\"s3cr3t-token\""), "Bearer error=\"[hidden]\"");
    }

    #[test]
    fn addresses_in_a_servers_words_are_hidden() {
        for (told, clean) in [
            ("dial tcp 10.0.0.5:5432: refused", "dial tcp [address]: refused"),
            ("read tcp 10.0.0.5:1->10.0.0.6:2: reset", "read tcp [address]->[address]: reset"),
            ("see (https://intra.example/x?y).", "see ([address])."),
            ("db.internal:5432, localhost:80 and [::1]:80", "[address], [address] and [address]"),
            ("host=fe80::1/64 addr='::1'", "host=[address]/64 addr='[address]'"),
            ("ratio 3:4 at 12:30, v1.2.3: fine", "ratio 3:4 at 12:30, v1.2.3: fine"),
            ("unknown tool: tool::b é", "unknown tool: tool::b é"),
        ] {
            assert_eq!(wording("").clean(told), clean);
        }
    }

    #[test]
    fn long_words_are_cut_after_they_are_cleaned() {
        let text = format!("{}s3cr3t-token", "x".repeat(MAX_MESSAGE_CHARS - 4));
        let told = wording("s3cr3t-token").clean(&text);
        assert_eq!((told.chars().count(), told.contains("s3c")), (MAX_MESSAGE_CHARS, false));
        assert_eq!(plain("a\u{1b}[31mb\nc\u{7f}", 99), "a [31mb c ");
    }
}
