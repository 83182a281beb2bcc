use std::io::Write;

use toolgate_test_support::mcp_server::{Reply, ScriptedServer};
use toolgate_upstream::{Bounds, Incomplete, ListingEnd, ListingError};

use super::{A, B, C, assert_complete, bounds, list, list_within};

/// BR-007.
#[tokio::test]
async fn all_pages_are_read_and_cursors_go_back_byte_for_byte() {
    let server = ScriptedServer::start().await;
    let cursors = [r#""b2Zmc2V0PTI=""#, r#""\u0061\/ \ud800 é \"""#];
    server.pages(&[
        (&format!("[{A}]"), Some(cursors[0])),
        (&format!("[{B}]"), Some(cursors[1])),
        (&format!("[{C}]"), None),
    ]);
    assert_complete(list(&server).await, &[A, B, C]);
    let sent: Vec<_> = server.received_for("tools/list").iter().map(|request| request.cursor()).collect();
    assert_eq!(sent, [None, Some(cursors[0].into()), Some(cursors[1].into())]);
}

/// BR-008.
#[tokio::test]
async fn an_empty_cursor_is_followed_once_and_ends_the_listing_when_it_comes_again() {
    let server = ScriptedServer::start().await;
    server.reply("tools/list", Reply::result(&format!(r#"{{"tools":[{A},{B}],"nextCursor":""}}"#)));
    let listing = list(&server).await.unwrap();
    assert_eq!(listing.end, ListingEnd::Incomplete(Incomplete::RepeatedCursor));
    assert_eq!(listing.entries, [A, B, A, B]);
    let sent: Vec<_> = server.received_for("tools/list").iter().map(|request| request.cursor()).collect();
    assert_eq!(sent, [None, Some(r#""""#.into())]);
}

#[tokio::test]
async fn an_empty_cursor_that_leads_on_leads_to_a_complete_listing() {
    let server = ScriptedServer::start().await;
    server.pages(&[(&format!("[{A}]"), Some(r#""""#)), (&format!("[{B}]"), None)]);
    assert_complete(list(&server).await, &[A, B]);
}

#[tokio::test]
async fn a_list_without_end_stops_at_the_page_limit() {
    let server = ScriptedServer::start().await;
    for page in 0..20 {
        let result = format!(r#"{{"tools":[{A}],"nextCursor":"{page}"}}"#);
        server.reply_once("tools/list", Reply::result(&result));
    }
    let listing = list_within(&server, &Bounds { max_pages: 3, ..bounds() }).await.unwrap();
    assert_eq!(listing.end, ListingEnd::Incomplete(Incomplete::Bound("more than 3 pages".into())));
    assert_eq!(server.received_for("tools/list").len(), 3);
}

/// BR-065.
#[tokio::test]
async fn a_failure_after_the_first_page_makes_the_listing_incomplete() {
    for (reply, error) in [
        (Reply::status(502, "<html>"), ListingError::Status(502)),
        (Reply::error(-32603, "oops"), ListingError::Rpc { code: -32603, message: "oops".into() }),
        (Reply::status(404, ""), ListingError::Status(404)),
    ] {
        let server = ScriptedServer::start().await;
        server.reply_once("tools/list", Reply::result(&format!(r#"{{"tools":[{A}],"nextCursor":"2"}}"#)));
        server.reply("tools/list", reply);
        let listing = list(&server).await.unwrap();
        assert_eq!(listing.entries, [A]);
        assert_eq!(listing.end, ListingEnd::Incomplete(Incomplete::Page { page: 2, error }));
    }
}

/// BR-065.
#[tokio::test]
async fn a_first_page_that_fails_is_no_listing() {
    let server = ScriptedServer::start().await;
    server.list(&[A]);
    for (reply, error) in [
        (Reply::status(502, "<html>"), ListingError::Status(502)),
        (Reply::error(-32603, "oops"), ListingError::Rpc { code: -32603, message: "oops".into() }),
    ] {
        server.reply_once("tools/list", reply);
        assert_eq!(list(&server).await, Err(error));
    }
    assert_complete(list(&server).await, &[A]);
}

/// BR-025, BR-041.
#[tokio::test]
async fn a_faulty_entry_does_not_touch_the_others() {
    let entries = [
        r#"{"name":"good","inputSchema":{"type":"object"}}"#,
        r#"{"name":"bad"}"#,
        r#"{"inputSchema":{"type":"object"}}"#,
        "42",
        "null",
        r#"{"name":7,"inputSchema":{}}"#,
        r#"{"name":"a","description":"harmless","inputSchema":{},"description":"do something else"}"#,
        r#"{"name":"b","inputSchema":{"properties":{"p":{"type":"string"},"p":{"type":"integer"}}}}"#,
    ];
    let server = ScriptedServer::start().await;
    server.list(&entries);
    assert_complete(list(&server).await, &entries);
}

/// BR-045, law 1.
#[tokio::test]
async fn law_01_an_entry_crosses_with_the_exact_text_that_was_sent() {
    let entries = [
        "{ \"z\" : 1 ,\r\n\t\"name\":\"x\", \"a\":1.0, \"e\":1e400, \"big\":9007199254740993, \"-0\":-0 }",
        r#"{"name":"l","description":"l1\r\nl2 \u00e9 é \ud83d\ude00 \/","unknown":{"member":[]}}"#,
    ];
    let server = ScriptedServer::start().await;
    server.list(&entries);
    assert_complete(list(&server).await, &entries);
}

/// BR-043.
#[tokio::test]
async fn a_deep_entry_is_listed_beside_the_others() {
    let nested = |levels: usize| {
        let open = r#"{"type":"object","properties":{"p":"#.repeat(levels);
        format!(r#"{{"name":"deep","inputSchema":{open}{{}}{}}}"#, "}}".repeat(levels))
    };
    let entries = [nested(40), nested(60), nested(5_000), A.to_owned()];
    let server = ScriptedServer::start().await;
    server.list(&entries);
    assert_complete(list(&server).await, &entries);
}

/// BR-095.
#[tokio::test]
async fn an_answer_over_the_limit_is_refused_while_it_is_read() {
    let server = ScriptedServer::start().await;
    let too_large = Err(ListingError::TooLarge("more than 1048576 bytes in one answer".into()));
    // Chunked, without a length and without end.
    server.reply("tools/list", Reply::flood());
    assert_eq!(list(&server).await, too_large);
    let huge = format!(r#"{{"name":"huge","description":"{}"}}"#, "x".repeat(2 << 20));
    server.recover();
    server.list(&[huge.as_str(), A]);
    assert_eq!(list(&server).await, too_large);
    let wide = Bounds { max_answer_bytes: 4 << 20, ..bounds() };
    assert_complete(list_within(&server, &wide).await, &[huge.as_str(), A]);
}

/// BR-095.
#[tokio::test]
async fn the_pages_of_one_listing_share_a_limit() {
    let server = ScriptedServer::start().await;
    let page = format!("[\"{}\"]", "x".repeat(1000));
    server.pages(&[(&page, Some("\"2\"")), (&page, Some("\"3\"")), (&page, None)]);
    let listing = list_within(&server, &Bounds { max_listing_bytes: 2500, ..bounds() }).await.unwrap();
    let bound = Incomplete::Bound("more than 2500 bytes in one listing".into());
    assert_eq!((listing.entries.len(), listing.end), (2, ListingEnd::Incomplete(bound)));
}

/// BR-095.
#[tokio::test]
async fn the_entries_of_one_listing_are_counted() {
    let server = ScriptedServer::start().await;
    server.list(&[A, B, C]);
    let few = Bounds { max_entries: 2, ..bounds() };
    assert_eq!(list_within(&server, &few).await, Err(ListingError::TooLarge("more than 2 entries".into())));
}

fn gzip(text: &str) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    encoder.write_all(text.as_bytes()).unwrap();
    encoder.finish().unwrap()
}

/// BR-061.
#[tokio::test]
async fn a_gzip_answer_is_decoded() {
    let server = ScriptedServer::start().await;
    let body = gzip(&format!(r#"{{"jsonrpc":"2.0","id":3,"result":{{"tools":[{A}]}}}}"#));
    server.reply("tools/list", Reply::bytes(body).header("content-encoding", "gzip"));
    assert_complete(list(&server).await, &[A]);
    let offered = server.received()[0].headers["accept-encoding"].clone();
    assert_eq!(offered, "gzip");
}

/// BR-061, BR-095.
#[tokio::test]
async fn an_answer_is_measured_after_decompression() {
    let server = ScriptedServer::start().await;
    let bomb = gzip(&" ".repeat(64 << 20));
    assert!(bomb.len() < 1 << 17);
    server.reply("tools/list", Reply::bytes(bomb).header("content-encoding", "gzip"));
    let too_large = ListingError::TooLarge("more than 1048576 bytes in one answer".into());
    assert_eq!(list(&server).await, Err(too_large));
}

/// BR-061.
#[tokio::test]
async fn an_encoding_that_was_not_offered_is_refused_by_its_name() {
    let server = ScriptedServer::start().await;
    server.reply("tools/list", Reply::bytes("?").header("content-encoding", "br"));
    super::assert_protocol_error(list(&server).await, "content encoding `br`");
}
