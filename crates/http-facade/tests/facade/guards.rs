use http::{Request, Version};

use crate::double::{Face, PATH, get};

async fn status(request: http::request::Builder) -> (u16, Option<String>) {
    let face = Face::holding(Vec::new());
    let answer = face.send(request).await;
    assert_eq!(face.calls().len(), usize::from(answer.status == 200));
    let error = (answer.status != 200).then(|| answer.json()["error"].as_str().unwrap().to_owned());
    (answer.status.as_u16(), error)
}

fn refused(status: u16, error: &str) -> (u16, Option<String>) {
    (status, Some(error.to_owned()))
}

#[tokio::test]
async fn a_request_for_another_host_is_misdirected() {
    for host in
        ["evil.example", "evil.example:8080", "localhost.evil.example", "10.0.0.1", "user@localhost.example"]
    {
        let answer = status(Request::get(PATH).header("host", host)).await;
        let expected = if host.contains('@') {
            refused(400, "VALIDATION_ERROR")
        } else {
            refused(421, "MISDIRECTED_REQUEST")
        };
        assert_eq!(answer, expected, "{host}");
    }
}

#[tokio::test]
async fn loopback_and_allowed_hosts_are_answered() {
    for host in ["localhost", "127.0.0.1:8080", "[::1]:8080", "tools.example:443"] {
        assert_eq!(status(Request::get(PATH).header("host", host)).await, (200, None), "{host}");
    }
}

#[tokio::test]
async fn a_missing_repeated_or_malformed_host_is_a_bad_request() {
    let hosts: [&[&str]; 4] = [&[], &["localhost", "localhost"], &[""], &["local host"]];
    for lines in hosts {
        let request = lines.iter().fold(Request::get(PATH), |request, line| request.header("host", *line));
        assert_eq!(status(request).await, refused(400, "VALIDATION_ERROR"), "{lines:?}");
    }
}

#[tokio::test]
async fn an_absolute_target_in_http1_needs_a_host_and_must_itself_be_allowed() {
    let to = |host: &str| Request::get(format!("http://{host}{PATH}"));
    assert_eq!(status(to("localhost")).await, refused(400, "VALIDATION_ERROR"));
    assert_eq!(status(to("localhost").header("host", "localhost")).await, (200, None));
    let foreign = to("evil.example").header("host", "localhost");
    assert_eq!(status(foreign).await, refused(421, "MISDIRECTED_REQUEST"));
}

#[tokio::test]
async fn the_authority_of_http2_counts_as_the_host() {
    let to = |host: &str| Request::get(format!("http://{host}{PATH}")).version(Version::HTTP_2);
    assert_eq!(status(to("localhost:8080")).await, (200, None));
    assert_eq!(status(to("evil.example")).await, refused(421, "MISDIRECTED_REQUEST"));
    assert_eq!(
        status(to("evil.example").header("host", "localhost")).await,
        refused(421, "MISDIRECTED_REQUEST")
    );
    assert_eq!(
        status(to("localhost").header("host", "evil.example")).await,
        refused(421, "MISDIRECTED_REQUEST")
    );
}

#[tokio::test]
async fn pages_of_other_origins_are_refused() {
    for origin in ["http://evil.example", "null", "", "localhost", "file://", "http://localhost@evil.example"]
    {
        let answer = status(get(PATH).header("origin", origin)).await;
        assert_eq!(answer, refused(403, "FORBIDDEN"), "{origin}");
    }
    let two = get(PATH).header("origin", "http://localhost").header("origin", "http://evil.example");
    assert_eq!(status(two).await, refused(403, "FORBIDDEN"));
}

#[tokio::test]
async fn pages_of_allowed_origins_are_answered() {
    for origin in ["http://localhost:3000", "https://tools.example", "http://[::1]:9"] {
        assert_eq!(status(get(PATH).header("origin", origin)).await, (200, None), "{origin}");
    }
}

#[tokio::test]
async fn a_sane_correlation_id_is_kept_and_any_other_replaced() {
    let face = Face::holding(Vec::new());
    let long = "x".repeat(129);
    for (sent, expected) in [
        ("req-1/a:b", "req-1/a:b"),
        ("", "0000000000000abc"),
        ("a b", "0000000000000abc"),
        (&long, "0000000000000abc"),
    ] {
        let answer = face.send(get(PATH).header("x-correlation-id", sent)).await;
        assert_eq!(answer.header("x-correlation-id"), Some(expected));
    }
    for answer in [face.get(PATH).await, face.get("/x").await, face.send(Request::get(PATH)).await] {
        assert_eq!(answer.header("x-correlation-id"), Some("0000000000000abc"));
    }
}
