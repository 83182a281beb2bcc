// An agent that calls the tools of real servers, written with the official SDKs.
//
//     calls.mjs MODE URL KEY FOLDER
//
// MODE as in `agent.mjs`. Of the upstreams `everything`, `files` (which serves FOLDER) and `memory` it calls what shows each
// kind of content. Prints one JSON object a line, and ends.

const [mode, url, key, folder] = process.argv.slice(2);
const say = (facts) => console.log(JSON.stringify(facts));

const http = { requestInit: { headers: { authorization: `Bearer ${key}` } } };
const identity = { name: "agent", version: "1" };

async function connected() {
  if (mode === "sdk") {
    const { Client } = await import("@modelcontextprotocol/sdk/client/index.js");
    const { StreamableHTTPClientTransport } = await import("@modelcontextprotocol/sdk/client/streamableHttp.js");
    const client = new Client(identity);
    await client.connect(new StreamableHTTPClientTransport(new URL(url), http));
    const call = (params, options) => client.callTool(params, undefined, options);
    return [client, call];
  }
  const { Client, StreamableHTTPClientTransport } = await import("@modelcontextprotocol/client");
  const versionNegotiation = mode === "client" ? {} : { mode: { pin: mode } };
  const client = new Client(identity, { versionNegotiation });
  await client.connect(new StreamableHTTPClientTransport(new URL(url), http));
  return [client, (params, options) => client.callTool(params, options)];
}

const [client, call] = await connected();

async function kinds(name, args, options) {
  const result = await call({ name, arguments: args }, options);
  say({
    called: name,
    is_error: result.isError === true,
    kinds: result.content.map((block) => block.type),
    text: result.content.find((block) => block.type === "text")?.text ?? "",
    structured: result.structuredContent ?? null,
  });
}

// A list validates structured results against the output schemas that it brought.
await client.listTools();
await kinds("everything__echo", { message: "hello" });
await kinds("everything__get-sum", { a: 2, b: 40 });
await kinds("everything__get-tiny-image", {});
await kinds("everything__get-structured-content", { location: "Chicago" });
await kinds("everything__get-resource-reference", { resourceType: "Text", resourceId: 1 });
await kinds("everything__get-sum", { a: "two", b: 40 });

const told = [];
await kinds(
  "everything__trigger-long-running-operation",
  { duration: 1, steps: 4 },
  { onprogress: (progress) => told.push(progress.progress), timeout: 60_000 },
);
say({ progress: told });

await kinds("files__write_file", { path: `${folder}/written`, content: "by an agent" });
await kinds("files__read_text_file", { path: `${folder}/written` });
await kinds("memory__create_entities", { entities: [{ name: "toolgate", entityType: "gate", observations: [mode] }] });
await kinds("memory__read_graph", {});

const stopped = new AbortController();
const cancelled = call(
  { name: "everything__trigger-long-running-operation", arguments: { duration: 60, steps: 60 } },
  { signal: stopped.signal, timeout: 120_000 },
);
setTimeout(() => stopped.abort("enough"), 300);
try {
  await cancelled;
  say({ cancelled: false });
} catch {
  say({ cancelled: true });
}
await kinds("everything__echo", { message: "still there" });
await client.close();
process.exit(0);
