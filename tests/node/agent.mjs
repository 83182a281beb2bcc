// An agent's MCP client, written with the official SDKs: lists, calls, and waits for changes.
//
//     agent.mjs MODE URL KEY SERVED HIDDEN
//
// MODE is a revision without sessions (for `client`), or `sdk` or `client` for a session. Prints one JSON object a line, as
// `python/agent.py` does. It ends with its standard input.

const [mode, url, key, served, hidden] = process.argv.slice(2);
const say = (facts) => console.log(JSON.stringify(facts));

const http = { requestInit: { headers: { authorization: `Bearer ${key}` } } };
const identity = { name: "agent", version: "1" };

async function newClient() {
  if (mode !== "sdk") {
    const { Client, StreamableHTTPClientTransport } = await import("@modelcontextprotocol/client");
    const versionNegotiation = mode === "client" ? {} : { mode: { pin: mode } };
    const listChanged = { tools: { autoRefresh: false, debounceMs: 0, onChanged: changed } };
    return [new Client(identity, { versionNegotiation, listChanged }), StreamableHTTPClientTransport];
  }
  const { Client } = await import("@modelcontextprotocol/sdk/client/index.js");
  const { StreamableHTTPClientTransport } = await import("@modelcontextprotocol/sdk/client/streamableHttp.js");
  const { ToolListChangedNotificationSchema } = await import("@modelcontextprotocol/sdk/types.js");
  const client = new Client(identity);
  client.setNotificationHandler(ToolListChangedNotificationSchema, changed);
  return [client, StreamableHTTPClientTransport];
}

async function names() {
  const tools = [];
  let cursor;
  do {
    const page = await client.listTools(cursor === undefined ? {} : { cursor });
    tools.push(...page.tools.map((tool) => tool.name));
    cursor = page.nextCursor;
  } while (cursor !== undefined);
  return tools;
}

async function call(name) {
  try {
    const result = await client.callTool({ name, arguments: {} });
    say({ called: name, is_error: result.isError, text: result.content[0].text });
  } catch (error) {
    say({ called: name, code: error.code, text: error.message });
  }
}

async function changed() {
  say({ tools: await names() });
}

const [client, Transport] = await newClient();
const transport = new Transport(new URL(url), http);
await client.connect(transport);
say({ revision: client.getNegotiatedProtocolVersion?.() ?? transport.protocolVersion });
say({ tools: await names() });
await call(served);
await call(hidden);
say({ listening: true });
process.stdin.resume();
process.stdin.on("end", async () => {
  await client.close();
  process.exit(0);
});
