// A customer's client over gRPC: Connect, and messages generated from `proto/`.
//
//     read_shapes.mjs GENERATED URL KEY AGENT ATTACHMENT UNIT
//
// Reads, page by page, what stands behind each documented HTTP shape, and the log of rulings, and is refused without a
// key. Prints one JSON object; its messages are in the JSON that protobuf defines, with each member that may be left out.

import { pathToFileURL } from "node:url";
import { toJson } from "@bufbuild/protobuf";
import { Code, ConnectError, createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";

const [generated, baseUrl, key, agentId, attachmentId, unit] = process.argv.slice(2);
const generatedFile = (name) => import(pathToFileURL(`${generated}/toolgate/v1/${name}_pb.js`));
const { ToolCatalog } = await generatedFile("tool_catalog");
const { ToolGovernance } = await generatedFile("tool_governance");

function connected(service, headers) {
  const withHeaders = (next) => (request) => {
    Object.entries(headers).forEach(([name, value]) => request.header.set(name, value));
    return next(request);
  };
  return createClient(service, createGrpcTransport({ baseUrl, interceptors: [withHeaders] }));
}

const authorized = { authorization: `Bearer ${key}` };

async function call(service, method, request) {
  const answer = await connected(service, authorized)[method](request);
  return toJson(service.method[method].output, answer, { alwaysEmitImplicit: true });
}

// Every element of the pages of a list.
async function all(service, method, list, request = {}) {
  const elements = [];
  let pageToken = "";
  do {
    const page = await call(service, method, { ...request, pageSize: 2, pageToken });
    elements.push(...page[list]);
    pageToken = page.nextPageToken;
  } while (pageToken !== "");
  return elements;
}

async function refusal() {
  try {
    await connected(ToolCatalog, {}).listTools({});
    return undefined;
  } catch (error) {
    return Code[ConnectError.from(error).code];
  }
}

const read = {
  tools: await all(ToolCatalog, "listTools", "tools"),
  serverTools: await call(ToolCatalog, "listServerTools", { agentId, attachmentId }),
  definitions: await all(ToolCatalog, "listToolDefinitions", "definitions"),
  units: await all(ToolCatalog, "listToolUnits", "units"),
  unit: await call(ToolCatalog, "getToolUnit", { unit }),
  commands: await all(ToolCatalog, "getToolUnit", "commands", { unit }),
  rulings: await all(ToolGovernance, "listRulings", "rulings"),
  refusal: await refusal(),
};
console.log(JSON.stringify(read));
