//! What the demo prints.

use std::{error::Error, time::Duration};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};
use toolgate_api_proto::v1::{Effect, Tool};

use super::story::Story;
use crate::listeners::Addresses;

const MAX_ANSWER_BYTES: u64 = 1024 * 1024;
const ANSWER_TIMEOUT: Duration = Duration::from_secs(10);
const ROUTE: &str = "/client/mcp/tools";

/// The tools in their states, one documented answer as it came over HTTP, and what to try next.
#[expect(clippy::print_stdout, reason = "what the command answers")]
pub(super) async fn print(story: &Story, at: Addresses, tools: &[Tool]) -> Result<(), Box<dyn Error>> {
    println!("A sample MCP server was registered; some of its tools were approved, then it changed.\n");
    println!("{:<24} {:<11} {:<8} WHAT ENDS THIS STATE", "TOOL", "STATE", "EFFECT");
    for tool in tools {
        let state = tool.state().as_str_name().trim_start_matches("TOOL_STATE_").to_lowercase();
        let effect = if tool.effect() == Effect::Reads { "reads" } else { "changes" };
        println!("{:<24} {:<11} {:<8} {}", tool.namespaced_name, state, effect, tool.remedy);
    }
    println!("\nGET {ROUTE}\n\n{}\n", shortened(&fetch(story, at).await?));
    println!("Try next (in another terminal):\n");
    println!(
        "  export TOOLGATE_ENDPOINT=http://{} TOOLGATE_KEY=$(cat {})",
        at.grpc,
        story.key_file().display()
    );
    println!("  toolgate tool list");
    println!("  toolgate tool show sample__notes_send       # what it became after it was approved");
    println!("  toolgate tool approve sample__notes_send    # shows what is approved, and asks");
    println!("  toolgate tool watch");
    println!("  curl -s -H \"Authorization: Bearer $TOOLGATE_KEY\" http://{}{ROUTE}", at.http);
    println!("\nAn agent of its own, with a key for any MCP client at http://{}/mcp:\n", at.http);
    println!("  toolgate agent create helper");
    println!("  toolgate agent attach helper sample");
    println!("  toolgate tool live helper sample            # what the server lists at this moment");
    println!("  toolgate key create --agent helper --scope mcp:call");
    println!("\n`toolgate` is {}.", story.command()[0]);
    println!(
        "http://{} (HTTP), {} (gRPC) and http://{} (admin) stay up; stop with Ctrl-C.",
        at.http, at.grpc, at.admin
    );
    Ok(())
}

/// The answer, byte for byte.
async fn fetch(story: &Story, at: Addresses) -> Result<String, Box<dyn Error>> {
    let mut stream = TcpStream::connect(at.http).await?;
    let request = format!(
        "GET {ROUTE} HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {}\r\nConnection: close\r\n\r\n",
        at.http,
        story.key()
    );
    stream.write_all(request.as_bytes()).await?;
    let mut answer = Vec::new();
    let mut limited = stream.take(MAX_ANSWER_BYTES);
    tokio::time::timeout(ANSWER_TIMEOUT, limited.read_to_end(&mut answer)).await??;
    Ok(String::from_utf8(answer)?)
}

/// The head, and of the body as much as fits a screen.
fn shortened(answer: &str) -> String {
    const SHOWN_CHARS: usize = 1400;
    let text = answer.replace("\r\n", "\n");
    match text.char_indices().nth(SHOWN_CHARS) {
        Some((end, _)) => format!("{} … ({} bytes in all)", &text[..end], answer.len()),
        None => text,
    }
}
