//! What only shows on a real connection.

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use crate::double::{Face, PATH, tool};

/// Sends one HTTP/1.1 request and reads the connection to its end.
async fn exchange(method: &str, headers: &str) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let server =
        tokio::spawn(async move { axum::serve(listener, Face::holding(vec![tool("{}")]).router).await });
    let mut connection = TcpStream::connect(address).await.unwrap();
    let request =
        format!("{method} {PATH} HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n{headers}\r\n");
    connection.write_all(request.as_bytes()).await.unwrap();
    let mut answer = String::new();
    connection.read_to_string(&mut answer).await.unwrap();
    server.abort();
    answer
}

fn parts(answer: &str) -> (&str, &str) {
    answer.split_once("\r\n\r\n").unwrap()
}

#[tokio::test]
async fn a_full_answer_states_its_length() {
    let answer = exchange("GET", "").await;
    let (head, body) = parts(&answer);
    assert!(head.starts_with("HTTP/1.1 200 OK\r\n"), "{head}");
    assert!(head.contains(&format!("\r\ncontent-length: {}\r\n", body.len())), "{head}");
    assert!(!head.contains("transfer-encoding"), "{head}");
}

#[tokio::test]
async fn a_not_modified_answer_has_neither_a_body_nor_a_length() {
    let answer = exchange("GET", "if-none-match: \"e1\"\r\n").await;
    let (head, body) = parts(&answer);
    assert!(head.starts_with("HTTP/1.1 304 Not Modified\r\n"), "{head}");
    assert!(!head.contains("content-length") && !head.contains("transfer-encoding"), "{head}");
    assert_eq!(body, "");
}

#[tokio::test]
async fn an_answer_to_head_states_the_length_that_get_has() {
    let (head, full) = (exchange("HEAD", "").await, exchange("GET", "").await);
    let length = format!("\r\ncontent-length: {}\r\n", parts(&full).1.len());
    assert!(parts(&head).0.contains(&length), "{head}");
    assert_eq!(parts(&head).1, "");
}
