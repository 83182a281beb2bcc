// Resources, of which the one is text, the other is not, and a template stands for many.

import { ResourceNotFoundError } from "@modelcontextprotocol/server";
import { png } from "./media.mjs";

const TEMPLATE = "test://template/{id}/data";
const json = "application/json";

const contents = new Map([
  ["test://static-text", { mimeType: "text/plain", text: "The content of the static text resource." }],
  ["test://static-binary", { mimeType: png.mimeType, blob: png.data }],
  ["test://watched-resource", { mimeType: "text/plain", text: "Watched." }],
]);

function read(uri) {
  const id = /^test:\/\/template\/([^/]+)\/data$/.exec(uri)?.[1];
  if (id !== undefined) {
    return { mimeType: json, text: JSON.stringify({ id, templateTest: true, data: `Data for ID: ${id}` }) };
  }
  const content = contents.get(uri);
  if (content === undefined) throw new ResourceNotFoundError(uri);
  return content;
}

export function registerResources(server) {
  const described = [...contents].map(([uri, { mimeType }]) => ({ uri, name: uri, description: uri, mimeType }));
  const templates = [{ uriTemplate: TEMPLATE, name: "template", description: "Data by id", mimeType: json }];
  server.setRequestHandler("resources/list", () => ({ resources: described }));
  server.setRequestHandler("resources/templates/list", () => ({ resourceTemplates: templates }));
  server.setRequestHandler("resources/read", ({ params: { uri } }) => ({ contents: [{ uri, ...read(uri) }] }));
}
