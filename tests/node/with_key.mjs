// Preloaded with `node --import` before a client that cannot be given a key: each of its requests carries $AGENT_KEY.

const plain = globalThis.fetch;

globalThis.fetch = (url, options = {}) => {
  const headers = new Headers(options.headers);
  headers.set("authorization", `Bearer ${process.env.AGENT_KEY}`);
  return plain(url, { ...options, headers });
};
