use std::io::{Read, Write};
use std::net::TcpListener;

use tonic::{Code, Status};
use tonic_types::{ErrorDetails, StatusExt};
use toolgate_cli::Exit;

use crate::double::{Script, refusal};
use crate::{Double, Seat, toolgate_at};

async fn list_refused_with(status: Status) -> crate::Ended {
    let script = Script { upstream_refusal: Some(status), ..Default::default() };
    Double::start(script).await.run(&["upstream", "list"]).await
}

#[tokio::test]
async fn a_refusal_is_one_line_and_a_hint() {
    let cases = [
        (
            refusal(Code::Unauthenticated, "CREDENTIAL_MISSING", "no credential came with the call", []),
            "error: no credential came with the call\nhint: set TOOLGATE_KEY, or pass --key-file FILE\n",
            5,
        ),
        (
            refusal(Code::PermissionDenied, "SCOPE_MISSING", "a scope is missing", [("scope", "mcp:read")]),
            "error: a scope is missing\nhint: use a key with the scope `mcp:read`\n",
            5,
        ),
        (
            refusal(Code::NotFound, "CLIENT_NOT_FOUND", "no such client", []),
            "error: no such client\nhint: look at --client; another client takes an operator key\n",
            3,
        ),
        (
            refusal(Code::Unavailable, "STORE_UNAVAILABLE", "try later\u{1b}c", [("outcome", "unknown")]),
            "error: try later\\u{1b}c\nhint: the write may have happened; look before trying again\n",
            6,
        ),
        (
            refusal(Code::Internal, "INTERNAL", "a fault of the server", [("incident", "i-7")]),
            "error: a fault of the server\nhint: the server's log tells more under incident i-7\n",
            1,
        ),
        (Status::unknown(""), "error: Unknown error\n", 1),
    ];
    for (status, expected, code) in cases {
        let ended = list_refused_with(status).await;
        assert_eq!((ended.err.as_str(), ended.exit.code(), ended.out.as_str()), (expected, code, ""));
    }
}

#[tokio::test]
async fn a_bad_field_is_named() {
    let details = ErrorDetails::with_bad_request_violation("client_id", "must be a UUID");
    let status = Status::with_error_details(Code::InvalidArgument, "1 field is wrong", details);
    let ended = list_refused_with(status).await;
    assert_eq!((ended.err.as_str(), ended.exit), ("error: client_id: must be a UUID\n", Exit::Usage));
}

#[tokio::test]
async fn a_server_that_is_not_there_is_unavailable() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let endpoint = format!("http://{}", listener.local_addr().unwrap());
    drop(listener);
    let ended = toolgate_at(&endpoint, Seat::Script, &["upstream", "list"]).await;
    let start = format!("error: cannot connect to {endpoint}/: ");
    assert!(ended.err.starts_with(&start), "{}", ended.err);
    assert!(ended.err.contains("\nhint: is `toolgate serve` running there?"), "{}", ended.err);
    assert_eq!(ended.exit.code(), 6);
}

#[tokio::test]
async fn what_speaks_no_grpc_is_told_apart_from_a_server_that_fails() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let endpoint = format!("http://{}", listener.local_addr().unwrap());
    // It answers each connection anew: the channel opens another where the first broke before the call was sent.
    std::thread::spawn(move || {
        for peer in listener.incoming() {
            let mut peer = peer.unwrap();
            let _ = peer.write_all(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n");
            let _ = peer.read_to_end(&mut Vec::new());
        }
    });
    let ended = toolgate_at(&endpoint, Seat::Script, &["upstream", "list"]).await;
    assert!(ended.err.starts_with("error: what answers there is not a gRPC endpoint\n"), "{}", ended.err);
    assert!(ended.err.contains("TOOLGATE_GRPC_ADDR, usually port 50051"), "{}", ended.err);
    assert_eq!(ended.exit, Exit::Usage);
}

#[tokio::test]
async fn a_tls_endpoint_is_refused_plainly() {
    let ended = toolgate_at("https://tools.example", Seat::Script, &["upstream", "list"]).await;
    let expected = "error: TLS endpoints are not supported yet\n\
                    hint: an endpoint is `http://HOST:PORT`, from --endpoint or TOOLGATE_ENDPOINT\n";
    assert_eq!((ended.err.as_str(), ended.exit), (expected, Exit::Usage));
}
