//! What the demo prints.

use std::{error::Error, time::Duration};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};
use toolgate_api_proto::v1::Effect;

use super::story::{AGENT, Ending, SLUG, Story};
use crate::listeners::Addresses;

const MAX_ANSWER_BYTES: u64 = 1024 * 1024;
const ANSWER_TIMEOUT: Duration = Duration::from_secs(10);
const ROUTE: &str = "/client/mcp/tools";
/// The sample server's address among the tools of a Melbis store.
const UNIT: &str = "MCP_SAMPLE";

/// The tools in their states, an answer of each documented shape as it came over HTTP, and what to try next.
#[expect(clippy::print_stdout, reason = "what the command answers")]
pub(super) async fn print(story: &Story, at: Addresses, ending: &Ending) -> Result<(), Box<dyn Error>> {
    println!("A sample MCP server was registered; some of its tools were approved, then it changed.\n");
    println!("{:<24} {:<13} {:<8} WHAT ENDS THIS STATE", "TOOL", "STATE", "EFFECT");
    for tool in &ending.tools {
        let state = tool.state().as_str_name().trim_start_matches("TOOL_STATE_").to_lowercase();
        let effect = if tool.effect() == Effect::Reads { "reads" } else { "changes" };
        println!("{:<24} {:<13} {:<8} {}", tool.namespaced_name, state, effect, tool.remedy);
    }
    for (told, path) in answers(ending) {
        println!("\n{told}\n\nGET {path}\n{}", shortened(&fetch(story, at, &path).await?));
    }
    println!("\nTry next (in another terminal):\n");
    println!(
        "  export TOOLGATE_ENDPOINT=http://{} TOOLGATE_KEY=$(cat {})",
        at.grpc,
        story.key_file().display()
    );
    println!("  toolgate tool list");
    println!("  toolgate tool show sample__notes_send       # what it became after it was approved");
    println!("  toolgate tool approve sample__notes_send    # shows what is approved, and asks");
    println!("  toolgate call sample__forecast '{{\"place\":\"Oslo\"}}'");
    println!("  toolgate tool watch");
    println!("  curl -s -H \"Authorization: Bearer $TOOLGATE_KEY\" http://{}{ROUTE}", at.http);
    println!("\nThe agent `{AGENT}` reaches what is attached to it, with a key of its own:\n");
    println!("  toolgate agent show {AGENT}");
    println!("  toolgate tool live {AGENT} {SLUG}            # what the server lists at this moment");
    println!("  toolgate key create --agent {AGENT} --scope mcp:call");
    println!("\nand an MCP client that is told:\n");
    println!(
        "  {{\"mcpServers\":{{\"toolgate\":{{\"type\":\"http\",\"url\":\"http://{}/mcp\",\"headers\":{{\"Authorization\":\"Bearer KEY\"}}}}}}}}",
        at.http
    );
    println!("\n`toolgate` is {}.", story.command()[0]);
    println!(
        "http://{} (HTTP), {} (gRPC) and http://{} (admin) stay up; stop with Ctrl-C.",
        at.http, at.grpc, at.admin
    );
    Ok(())
}

/// What is fetched, and what it is.
fn answers(ending: &Ending) -> [(&'static str, String); 4] {
    let attachment = ending.agent.attachments.first().map(|attachment| attachment.id.as_str());
    let capabilities =
        format!("/v1/agents/{}/tools/{}/capabilities", ending.agent.id, attachment.unwrap_or_default());
    [
        ("Every tool with its exact definition, for operators:", ROUTE.to_owned()),
        ("What a server that is attached to an agent lists at this moment:", capabilities),
        ("What is served, as OXP tool definitions:", "/tools".to_owned()),
        ("The same as the commands of a Melbis tool:", format!("/tool_list?unit={UNIT}")),
    ]
}

/// The answer, byte for byte.
async fn fetch(story: &Story, at: Addresses, path: &str) -> Result<String, Box<dyn Error>> {
    let mut stream = TcpStream::connect(at.http).await?;
    let request = format!(
        "GET {path} HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {}\r\nConnection: close\r\n\r\n",
        at.http,
        story.key()
    );
    stream.write_all(request.as_bytes()).await?;
    let mut answer = Vec::new();
    let mut limited = stream.take(MAX_ANSWER_BYTES);
    tokio::time::timeout(ANSWER_TIMEOUT, limited.read_to_end(&mut answer)).await??;
    Ok(String::from_utf8(answer)?)
}

/// The status, and of the body as much as is worth a look.
fn shortened(answer: &str) -> String {
    const SHOWN_CHARS: usize = 600;
    let (head, body) = answer.split_once("\r\n\r\n").unwrap_or((answer, ""));
    let status = head.lines().next().unwrap_or_default();
    match body.char_indices().nth(SHOWN_CHARS) {
        Some((end, _)) => format!("{status}\n\n{} … ({} bytes in all)", &body[..end], body.len()),
        None => format!("{status}\n\n{body}"),
    }
}
