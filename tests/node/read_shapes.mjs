// A customer's client over gRPC: Connect, and messages generated from `proto/`.
//
//     read_shapes.mjs GENERATED URL KEY
//
// Reads, page by page, what stands behind each documented HTTP shape, and the log of rulings, and is refused without a
// key. Prints one JSON object; its messages are in the JSON that protobuf defines.

import { pathToFileURL } from "node:url";
import { toJson } from "@bufbuild/protobuf";
import { Code, ConnectError, createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";

const [generated, baseUrl, key] = process.argv.slice(2);
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

// Every element of a paged list, in the JSON of its message.
async function all(service, method, request = {}) {
  const { localName, output } = service.method[method];
  const client = connected(service, authorized);
  const list = output.fields.find((field) => field.fieldKind === "list");
  const elements = [];
  let pageToken = "";
  do {
    const page = await client[localName]({ ...request, pageSize: 2, pageToken });
    elements.push(...(toJson(output, page)[list.jsonName] ?? []));
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
  tools: await all(ToolCatalog, "listTools"),
  definitions: await all(ToolCatalog, "listToolDefinitions"),
  rulings: await all(ToolGovernance, "listRulings"),
  refusal: await refusal(),
};
console.log(JSON.stringify(read));
