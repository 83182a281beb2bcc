// An MCP server with the tools, prompts and resources that the MCP conformance suite asks for by name, written with the
// official SDK.
//
//     server.mjs session|stateless
//
// `session` speaks the revisions that open with `initialize`, `stateless` 2026-07-28. It listens on a free port of 127.0.0.1,
// prints its URL, and ends with its standard input.

import { randomUUID } from "node:crypto";
import { createServer } from "node:http";
import { NodeStreamableHTTPServerTransport, localhostHostValidation, toNodeHandler } from "@modelcontextprotocol/node";
import { Server, createMcpHandler } from "@modelcontextprotocol/server";
import { registerPrompts } from "./prompts.mjs";
import { registerResources } from "./resources.mjs";
import { requestStates } from "./request_state.mjs";
import { registerTools } from "./tools.mjs";

const [era] = process.argv.slice(2);
const changes = { listChanged: true };
const capabilities = {
  completions: {},
  prompts: changes,
  resources: { ...changes, subscribe: true },
  tools: changes,
  ...(era === "session" ? { logging: {} } : {}),
};

function newServer() {
  const identity = { name: "conformance", version: "1.0.0" };
  const server = new Server(identity, { capabilities, requestState: { verify: requestStates.verify } });
  registerTools(server, notify);
  registerPrompts(server);
  registerResources(server);
  if (era === "session") {
    server.setRequestHandler("resources/subscribe", () => ({}));
    server.setRequestHandler("resources/unsubscribe", () => ({}));
  }
  return server;
}

const sessions = new Map();

async function inSession(request, response) {
  const known = sessions.get(request.headers["mcp-session-id"]);
  if (known !== undefined) return known.handleRequest(request, response);
  if (request.headers["mcp-session-id"] !== undefined) return response.writeHead(404).end();
  const transport = new NodeStreamableHTTPServerTransport({
    sessionIdGenerator: randomUUID,
    onsessioninitialized: (id) => sessions.set(id, transport),
    onsessionclosed: (id) => sessions.delete(id),
  });
  await newServer().connect(transport);
  return transport.handleRequest(request, response);
}

const stateless = createMcpHandler(newServer, { legacy: "reject" });
const notify = era === "session" ? { toolsChanged() {}, promptsChanged() {} } : stateless.notify;
const answer = era === "session" ? inSession : toNodeHandler(stateless);
const isLocal = localhostHostValidation();

const listener = createServer((request, response) => {
  if (isLocal(request, response)) answer(request, response);
});
listener.listen(0, "127.0.0.1", () => console.log(`http://127.0.0.1:${listener.address().port}/mcp`));
process.stdin.resume();
process.stdin.on("end", () => process.exit(0));
