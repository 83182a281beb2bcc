// Preloaded with `node --import` before an HTTP server that would listen on every address: it listens on 127.0.0.1 alone,
// and with `PORT=0` on a free port, which is printed on standard error.

import net from "node:net";

const listen = net.Server.prototype.listen;

net.Server.prototype.listen = function (port, ...rest) {
  this.once("listening", () => console.error(`listening on 127.0.0.1:${this.address().port}`));
  const callbacks = rest.filter((argument) => typeof argument === "function");
  return listen.call(this, { port: Number(port), host: "127.0.0.1" }, ...callbacks);
};
