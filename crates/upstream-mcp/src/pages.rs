//! The pages of one listing, whatever brought them.

use std::borrow::Cow;
use std::collections::HashSet;
use std::time::Duration;

use serde_json::value::RawValue;
use toolgate_definition::scan;
use toolgate_upstream::{Bounds, Incomplete, ListingEnd, ListingError};

use crate::conversation::{Conversation, Failure, Wire};
use crate::meter::over;
use crate::rpc;

/// Asks for page after page. `Err` means that not one was read, or that the session is gone.
pub(crate) async fn read<W: Wire>(
    conversation: &mut Conversation<W>,
    bounds: &Bounds,
) -> Result<(Pages, ListingEnd), Failure> {
    let mut pages = Pages::new(bounds);
    let mut cursor = None;
    loop {
        let until = conversation.within(bounds.answer_timeout, "an answer");
        let answer = match conversation.ask("tools/list", &page_params(cursor.as_deref()), until).await {
            Err(Failure::SessionGone) => return Err(Failure::SessionGone),
            answer => answer.map_err(ListingError::from),
        };
        match answer.and_then(|result| pages.add(&result)) {
            Ok(Progress::Next(next)) => cursor = Some(next),
            Ok(Progress::End(end)) => return Ok((pages, end)),
            Err(error) => {
                let end = pages.interrupted(error)?;
                return Ok((pages, end));
            }
        }
    }
}

/// The cursor goes back in the server's own spelling.
fn page_params(cursor: Option<&str>) -> String {
    cursor.map(|token| format!(r#""cursor":{token}"#)).unwrap_or_default()
}

/// What to do after a page.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Progress {
    /// Ask for the page at this cursor: a JSON string in the server's own spelling.
    Next(String),
    End(ListingEnd),
}

/// Collects entries and guards against a list without end.
#[derive(Debug)]
pub(crate) struct Pages {
    max_pages: usize,
    max_entries: usize,
    read: usize,
    entries: Vec<String>,
    cursors: HashSet<String>,
    ttl: Option<Duration>,
    public_ttl: Option<Duration>,
    server_info: Option<String>,
}

impl Pages {
    pub(crate) fn new(bounds: &Bounds) -> Self {
        Self {
            max_pages: bounds.max_pages,
            max_entries: bounds.max_entries,
            read: 0,
            entries: Vec::new(),
            cursors: HashSet::new(),
            ttl: None,
            public_ttl: None,
            server_info: None,
        }
    }

    /// Takes the result of one `tools/list`, wholly or, on an error, not at all.
    pub(crate) fn add(&mut self, result: &str) -> Result<Progress, ListingError> {
        let members = scan::object(result).map_err(|error| rpc::broken("the tools/list result", &error))?;
        let Some(tools) = rpc::member(&members, "tools") else {
            return Err(ListingError::Protocol("the tools/list result has no tools".into()));
        };
        let cursor = rpc::member(&members, "nextCursor").map(cursor).transpose()?.flatten();
        self.add_entries(tools)?;
        self.read += 1;
        if let Some(ttl) = rpc::member(&members, "ttlMs").and_then(ttl) {
            self.ttl = Some(self.ttl.map_or(ttl, |shortest| shortest.min(ttl)));
        }
        let public_ttl = public_ttl(&members);
        let is_first = self.read == 1;
        self.public_ttl =
            if is_first { public_ttl } else { self.public_ttl.zip(public_ttl).map(|(a, b)| a.min(b)) };
        self.server_info = server_info(&members).map(str::to_owned);
        Ok(match cursor {
            None => Progress::End(ListingEnd::Complete),
            Some(cursor) => self.follow(cursor),
        })
    }

    fn add_entries(&mut self, tools: &str) -> Result<(), ListingError> {
        let before = self.entries.len();
        let added = scan::elements(tools).try_for_each(|entry| {
            let entry = entry.map_err(|error| rpc::broken("the tools of a page", &error))?;
            if self.entries.len() == self.max_entries {
                return Err(over(self.max_entries, "entries"));
            }
            self.entries.push(entry.to_owned());
            Ok(())
        });
        added.inspect_err(|_| self.entries.truncate(before))
    }

    /// A cursor that is present is followed, an empty one too; one that came before leads nowhere new.
    fn follow(&mut self, cursor: &str) -> Progress {
        if !self.cursors.insert(cursor.to_owned()) {
            return Progress::End(ListingEnd::Incomplete(Incomplete::RepeatedCursor));
        }
        if self.read == self.max_pages {
            let bound = format!("more than {} pages", self.max_pages);
            return Progress::End(ListingEnd::Incomplete(Incomplete::Bound(bound)));
        }
        Progress::Next(cursor.to_owned())
    }

    /// How the listing ends when the page after those read failed: with nothing when there is none.
    pub(crate) fn interrupted(&self, error: ListingError) -> Result<ListingEnd, ListingError> {
        if self.read == 0 {
            return Err(error);
        }
        Ok(ListingEnd::Incomplete(match error {
            ListingError::TooLarge(bound) => Incomplete::Bound(bound),
            error => Incomplete::Page { page: self.read + 1, error },
        }))
    }

    /// The shortest `ttlMs` of all pages.
    pub(crate) fn ttl(&self) -> Option<Duration> {
        self.ttl
    }

    /// The shortest `ttlMs` of all pages, zero included, if each has one and says `public`.
    pub(crate) fn public_ttl(&self) -> Option<Duration> {
        self.public_ttl
    }

    /// What the server says of itself in the `_meta` of a page: the exact text.
    pub(crate) fn server_info(&self) -> Option<&str> {
        self.server_info.as_deref()
    }

    pub(crate) fn into_entries(self) -> Vec<String> {
        self.entries
    }
}

/// The cursor's exact token. It is spliced into our next request, so it has to be a JSON string; `null`, which many
/// servers write for an absent member, is no cursor.
fn cursor(token: &str) -> Result<Option<&str>, ListingError> {
    match token {
        "null" => Ok(None),
        token if token.starts_with('"') && serde_json::from_str::<&RawValue>(token).is_ok() => {
            Ok(Some(token))
        }
        _ => Err(ListingError::Protocol("the tools/list result's nextCursor is not a string".into())),
    }
}

/// The exact text of a server's description of itself in the `_meta` of a result.
fn server_info<'a>(members: &[(Cow<'_, str>, &'a str)]) -> Option<&'a str> {
    rpc::member_at(rpc::member(members, "_meta")?, &["io.modelcontextprotocol/serverInfo"])
}

/// Zero, and what is no count of milliseconds, say nothing.
fn ttl(token: &str) -> Option<Duration> {
    token.parse().ok().filter(|ms| *ms > 0).map(Duration::from_millis)
}

/// How long a page may be kept by anybody, if it may.
fn public_ttl(members: &[(Cow<'_, str>, &str)]) -> Option<Duration> {
    let scope = rpc::member(members, "cacheScope").and_then(rpc::string);
    let ttl = rpc::member(members, "ttlMs").and_then(|token| token.parse().ok());
    ttl.filter(|_| scope.as_deref() == Some("public")).map(Duration::from_millis)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn pages(max_pages: usize, max_entries: usize) -> Pages {
        let timeout = Duration::from_secs(1);
        Pages::new(&Bounds {
            connect_timeout: timeout,
            answer_timeout: timeout,
            total_timeout: timeout,
            max_pages,
            max_answer_bytes: usize::MAX,
            max_listing_bytes: usize::MAX,
            max_entries,
        })
    }

    fn incomplete(incomplete: Incomplete) -> Progress {
        Progress::End(ListingEnd::Incomplete(incomplete))
    }

    fn protocol_error(result: &str) -> String {
        match pages(9, 9).add(result) {
            Err(ListingError::Protocol(text)) => text,
            other => panic!("{result}: {other:?}"),
        }
    }

    /// BR-007.
    #[test]
    fn only_an_absent_cursor_ends_a_list_and_null_is_an_absent_one() {
        assert_eq!(pages(9, 9).add(r#"{"tools":[]}"#), Ok(Progress::End(ListingEnd::Complete)));
        assert_eq!(
            pages(9, 9).add(r#"{"tools":[],"nextCursor":null}"#),
            Ok(Progress::End(ListingEnd::Complete))
        );
        for token in [r#""""#, r#""b2Zmc2V0PTI=""#, r#""\u0061\/ \" é""#, r#""\ud800""#] {
            let result = format!(r#"{{"tools":[],"nextCursor": {token} }}"#);
            assert_eq!(pages(9, 9).add(&result), Ok(Progress::Next(token.to_owned())));
        }
    }

    #[test]
    fn a_cursor_that_is_no_json_string_is_a_protocol_error() {
        for token in ["7", "{}", "true", r#""\x""#, "\"a\nb\"", "nul"] {
            assert!(
                protocol_error(&format!(r#"{{"tools":[],"nextCursor":{token}}}"#)).contains("nextCursor"),
                "{token}"
            );
        }
    }

    /// BR-008.
    #[test]
    fn a_repeated_cursor_ends_the_listing_as_incomplete() {
        let mut pages = pages(9, 9);
        for (cursor, end) in [("a", None), ("", None), ("b", None), ("", Some(Incomplete::RepeatedCursor))] {
            let next = Progress::Next(format!("\"{cursor}\""));
            let result = format!(r#"{{"tools":[1],"nextCursor":"{cursor}"}}"#);
            assert_eq!(pages.add(&result), Ok(end.map_or(next, incomplete)));
        }
        assert_eq!(pages.into_entries(), ["1", "1", "1", "1"]);
    }

    #[test]
    fn the_last_allowed_page_may_end_the_list_but_not_lead_on() {
        let mut pages = pages(2, 9);
        pages.add(r#"{"tools":[1],"nextCursor":"a"}"#).unwrap();
        let more = Incomplete::Bound("more than 2 pages".into());
        assert_eq!(pages.add(r#"{"tools":[2],"nextCursor":"b"}"#), Ok(incomplete(more)));
        assert_eq!(pages.into_entries(), ["1", "2"]);
    }

    /// BR-095.
    #[test]
    fn a_page_with_too_many_entries_is_not_taken_in_part() {
        let mut pages = pages(9, 2);
        let refused = pages.add(r#"{"tools":[1,2,3]}"#).unwrap_err();
        assert_eq!(refused, ListingError::TooLarge("more than 2 entries".into()));
        assert_eq!(pages.interrupted(refused.clone()), Err(refused));
        pages.add(r#"{"tools":[1],"nextCursor":"a"}"#).unwrap();
        let refused = pages.add(r#"{"tools":[2,3]}"#).unwrap_err();
        let end = Incomplete::Bound("more than 2 entries".into());
        assert_eq!(pages.interrupted(refused), Ok(ListingEnd::Incomplete(end)));
        assert_eq!(pages.into_entries(), ["1"]);
    }

    #[test]
    fn the_shortest_time_to_live_of_all_pages_counts() {
        for (ttls, shortest) in [
            (&["300000", "60000", "900000"][..], Some(60_000)),
            (&["0", "5000"], Some(5000)),
            (&["0"], None),
            (&["-1"], None),
            (&["\"9\"", "1.5", "null", "18446744073709551616"], None),
        ] {
            let mut pages = pages(9, 9);
            for ttl in ttls {
                pages.add(&format!(r#"{{"tools":[],"ttlMs":{ttl}}}"#)).unwrap();
            }
            assert_eq!(pages.ttl(), shortest.map(Duration::from_millis), "{ttls:?}");
        }
    }

    #[test]
    fn a_list_is_anybodys_to_keep_if_each_page_says_so_for_as_long_as_the_shortest_says() {
        let public = r#""ttlMs":5000,"cacheScope":"public""#;
        for (members, ttl) in [
            (&[public][..], Some(5000)),
            (&[public, r#""ttlMs":7000,"cacheScope":"public""#], Some(5000)),
            (&[public, r#""ttlMs":0,"cacheScope":"public""#], Some(0)),
            (&[public, r#""ttlMs":1,"cacheScope":"private""#], None),
            (&[r#""ttlMs":1,"cacheScope":"private""#, public], None),
            (&[public, r#""x":1"#, public], None),
            (&[r#""ttlMs":-1,"cacheScope":"public""#], None),
            (&[r#""ttlMs":5000"#], None),
            (&[r#""cacheScope":"public""#], None),
            (&[], None),
        ] {
            let mut pages = pages(9, 9);
            for page in members {
                pages.add(&format!(r#"{{"tools":[],{page}}}"#)).unwrap();
            }
            assert_eq!(pages.public_ttl(), ttl.map(Duration::from_millis), "{members:?}");
        }
    }

    /// BR-025, BR-041, law 1.
    #[test]
    fn entries_keep_their_exact_text_whatever_they_are() {
        let entries = [
            r#"{ "name" : "a", "n": 1.0e+0, "big": 9007199254740993, "name":"twice" }"#,
            "42",
            "null",
            r#""\u00e9\ud800""#,
            "[1,{}]",
            "nojson",
        ]
        .map(str::to_owned);
        let mut pages = pages(9, 9);
        pages.add(&format!(r#"{{"tools": [ {} ], "ttlMs": 5}}"#, entries.join(" ,\n"))).unwrap();
        assert_eq!(pages.into_entries(), entries);
    }

    /// BR-043.
    #[test]
    fn an_entry_of_any_depth_is_kept() {
        let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
        let mut pages = pages(9, 9);
        pages.add(&format!(r#"{{"tools":[{deep},1]}}"#)).unwrap();
        assert_eq!(pages.into_entries(), [deep, "1".into()]);
    }

    /// BR-041.
    #[test]
    fn an_ambiguous_or_misshapen_result_is_a_protocol_error() {
        for result in [
            "{}",
            "7",
            r#"{"tools":null}"#,
            r#"{"tools":{}}"#,
            r#"{"tools":[],"tools":[1]}"#,
            r#"{"tools":[],"t\u006fols":[1]}"#,
            r#"{"tools":[],"nextCursor":"a","nextCursor":"b"}"#,
            r#"{"tools":[1,]}"#,
            r#"{"tools":[1}"#,
        ] {
            protocol_error(result);
        }
    }

    proptest! {
        #[test]
        fn no_text_makes_a_listing_panic(result in r#"([{}\[\]",:\\ 1a]|"tools":|"nextCursor":){0,24}"#) {
            let _ = pages(2, 2).add(&result);
        }
    }
}
