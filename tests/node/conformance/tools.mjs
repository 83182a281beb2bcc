// The tools: those that answer at once, and those of `asking.mjs`.

import { setTimeout as pause } from "node:timers/promises";
import { ProtocolError } from "@modelcontextprotocol/server";
import { askingTools } from "./asking.mjs";
import { png, text, wav } from "./media.mjs";

const INVALID_PARAMS = -32602;
const STEP_MS = 50;
const said = (...content) => ({ content });

const resource = (uri, mimeType, words) => ({ type: "resource", resource: { uri, mimeType, text: words } });

async function withLogging(_, { mcpReq }) {
  await mcpReq.log("info", "Tool execution started");
  await pause(STEP_MS);
  await mcpReq.log("info", "Tool processing data");
  await pause(STEP_MS);
  await mcpReq.log("info", "Tool execution completed");
  return said(text("Logged three times."));
}

async function withProgress(_, { mcpReq }) {
  const progressToken = mcpReq._meta?.progressToken;
  for (const progress of [0, 50, 100]) {
    const params = { progressToken, progress, total: 100 };
    if (progressToken !== undefined) await mcpReq.notify({ method: "notifications/progress", params });
    await pause(STEP_MS);
  }
  return said(text("Went on in three steps."));
}

const quickTools = (notify) => ({
  test_simple_text: () => said(text("This is a simple text response for testing.")),
  test_image_content: () => said({ type: "image", ...png }),
  test_audio_content: () => said({ type: "audio", ...wav }),
  test_embedded_resource: () => said(resource("test://embedded-resource", "text/plain", "Embedded.")),
  test_multiple_content_types: () =>
    said(
      text("Multiple content types test:"),
      { type: "image", ...png },
      resource("test://mixed-content-resource", "application/json", '{"test":"data","value":123}'),
    ),
  test_tool_with_logging: withLogging,
  test_logging_tool: withLogging,
  test_tool_with_progress: withProgress,
  test_error_handling: () => ({ ...said(text("This tool intentionally returns an error.")), isError: true }),
  json_schema_2020_12_tool: (args) => said(text(JSON.stringify(args))),
  test_custom_headers: (args) => said(text(JSON.stringify(args))),
  test_trigger_tool_change: () => {
    notify.toolsChanged();
    return said(text("Told."));
  },
  test_trigger_prompt_change: () => {
    notify.promptsChanged();
    return said(text("Told."));
  },
});

const requires = (...names) => ({
  type: "object",
  properties: Object.fromEntries(names.map((name) => [name, { type: "string" }])),
  required: names,
});

const address = { street: { type: "string" }, city: { type: "string" } };
const schemas = {
  test_sampling: requires("prompt"),
  test_elicitation: requires("message"),
  test_custom_headers: {
    type: "object",
    properties: { region: { type: "string", "x-mcp-header": "Region" } },
  },
  json_schema_2020_12_tool: {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    type: "object",
    $defs: { address: { $anchor: "addressDef", type: "object", properties: address } },
    properties: {
      name: { type: "string" },
      address: { $ref: "#/$defs/address" },
      contactMethod: { type: "string", enum: ["phone", "email"] },
      phone: { type: "string" },
      email: { type: "string" },
    },
    allOf: [{ anyOf: [{ required: ["phone"] }, { required: ["email"] }] }],
    if: { properties: { contactMethod: { const: "phone" } }, required: ["contactMethod"] },
    then: { required: ["phone"] },
    else: { required: ["email"] },
    additionalProperties: false,
  },
};

export function registerTools(server, notify) {
  const tools = { ...quickTools(notify), ...askingTools };
  const listed = Object.keys(tools).map((name) => ({
    name,
    description: `What the conformance suite calls ${name}.`,
    inputSchema: schemas[name] ?? { type: "object" },
  }));
  server.setRequestHandler("tools/list", () => ({ tools: listed }));
  server.setRequestHandler("tools/call", ({ params }, context) => {
    if (!Object.hasOwn(tools, params.name)) {
      throw new ProtocolError(INVALID_PARAMS, `Unknown tool: ${params.name}`);
    }
    return tools[params.name](params.arguments ?? {}, context);
  });
}
