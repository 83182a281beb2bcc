// Stands before a server that wants a key, for a client that cannot be given one: passes on every request as it came, with
// `authorization` added.
//
//     forwarder.mjs URL KEY
//
// It listens on a free port of 127.0.0.1, prints its URL, and ends with its standard input.

import { Agent, createServer, request } from "node:http";
import { pipeline } from "node:stream";

const [url, key] = process.argv.slice(2);
const { hostname, port } = new URL(url);
const agent = new Agent({ keepAlive: true });

// As pairs, in the order and the spelling that they came in.
const pairs = (headers) => headers.flatMap((name, at) => (at % 2 === 0 ? [[name, headers[at + 1]]] : []));

const listener = createServer((asked, answer) => {
  const headers = [...pairs(asked.rawHeaders), ["Authorization", `Bearer ${key}`]].flat();
  const target = { agent, hostname, port, method: asked.method, path: asked.url, headers };
  const forwarded = request(target, (response) => {
    answer.writeHead(response.statusCode, response.rawHeaders);
    pipeline(response, answer, () => forwarded.destroy());
  });
  forwarded.on("error", () => answer.destroy());
  answer.on("close", () => forwarded.destroy());
  asked.pipe(forwarded);
});
listener.listen(0, "127.0.0.1", () => console.log(`http://127.0.0.1:${listener.address().port}/mcp`));
process.stdin.resume();
process.stdin.on("end", () => process.exit(0));
