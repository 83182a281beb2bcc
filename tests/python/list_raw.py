"""Lists the tools of an MCP server, each exactly as it arrived. Uses nothing but the standard library.

    list_raw.py http URL
    list_raw.py stdio [--env NAME=VALUE]... -- COMMAND [ARGUMENT]...

It speaks revision 2026-07-28 where the server does, else a session revision, declares no capabilities, and never writes a
definition anew: the text of an entry is a slice of the message that held it. Prints one JSON object: `protocolVersion`, and `entries`, a list of those texts.
"""

import json
import subprocess
import sys
import urllib.error
import urllib.request

STATELESS = "2026-07-28"
REVISION = "2025-11-25"
CLIENT = {"name": "list_raw", "version": "1"}
TIMEOUT_SECONDS = 60
DECODER = json.JSONDecoder()
WHITE_SPACE = " \t\r\n"


def skip(text, at):
    while text[at] in WHITE_SPACE:
        at += 1
    return at


def items(text, at):
    """Yields the key (None in an array) and the exact text of each item of the array or object that begins at `at`."""
    opening = text[at]
    closing = {"[": "]", "{": "}"}[opening]
    at = skip(text, at + 1)
    while text[at] != closing:
        key = None
        if opening == "{":
            key, at = DECODER.raw_decode(text, at)
            at = skip(text, at)
            assert text[at] == ":", f"no colon at {at}"
            at = skip(text, at + 1)
        _, end = DECODER.raw_decode(text, at)
        yield key, text[at:end]
        at = skip(text, end)
        if text[at] == ",":
            at = skip(text, at + 1)


def member(text, key):
    found = [value for name, value in items(text, skip(text, 0)) if name == key]
    assert len(found) <= 1, f"{key} stands in the object twice"
    return found[0] if found else None


class Server:
    """One conversation. `exchange` sends a message and answers the text of the response, if one is due."""

    def __init__(self):
        self.last_id = 0
        self.meta = {}

    def declare(self, revision):
        """From now on each request says what it speaks; None ends that."""
        names = {"protocolVersion": revision, "clientInfo": CLIENT, "clientCapabilities": {}}
        meta = {f"io.modelcontextprotocol/{name}": value for name, value in names.items()}
        self.meta = {"_meta": meta} if revision else {}

    def ask(self, method, params):
        self.last_id += 1
        params = {**params, **self.meta}
        request = {"jsonrpc": "2.0", "id": self.last_id, "method": method, "params": params}
        answer = self.exchange(request)
        result = member(answer, "result")
        assert result is not None, f"{method}: {answer}"
        return result

    def tell(self, method):
        self.exchange({"jsonrpc": "2.0", "method": method})

    def is_answer(self, text):
        message = json.loads(text)
        return message.get("id") == self.last_id and "method" not in message


class HttpServer(Server):
    def __init__(self, url):
        super().__init__()
        self.url = url
        self.headers = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}

    def exchange(self, message):
        body = json.dumps(message).encode()
        headers = dict(self.headers)
        if self.meta:
            headers |= {"MCP-Protocol-Version": STATELESS, "Mcp-Method": message["method"]}
        request = urllib.request.Request(self.url, data=body, headers=headers, method="POST")
        with urllib.request.urlopen(request, timeout=TIMEOUT_SECONDS) as response:
            session = response.headers.get("mcp-session-id")
            if session:
                self.headers["Mcp-Session-Id"] = session
            if "id" not in message:
                return None
            if response.headers.get_content_type() == "text/event-stream":
                return self.from_events(response)
            return response.read().decode()

    def from_events(self, response):
        data = []
        for line in response:
            line = line.decode().rstrip("\r\n")
            if line.startswith("data:"):
                data.append(line[5:].removeprefix(" "))
            elif not line:
                text, data = "\n".join(data), []
                # The event that begins a stream may be empty: it only gives an id to resume from.
                if text and self.is_answer(text):
                    return text
        raise AssertionError("the events ended without an answer")

    def agreed_on(self, revision):
        self.headers["MCP-Protocol-Version"] = revision

    def end(self):
        if "Mcp-Session-Id" in self.headers:
            request = urllib.request.Request(self.url, headers=self.headers, method="DELETE")
            urllib.request.urlopen(request, timeout=TIMEOUT_SECONDS).close()


class StdioServer(Server):
    def __init__(self, command, env):
        super().__init__()
        self.child = subprocess.Popen(
            command, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )

    def exchange(self, message):
        self.child.stdin.write(json.dumps(message).encode() + b"\n")
        self.child.stdin.flush()
        while "id" in message:
            line = self.child.stdout.readline()
            assert line, "the server ended before it answered"
            text = line.decode().rstrip("\r\n")
            if text.startswith("{") and self.is_answer(text):
                return text
        return None

    def agreed_on(self, revision):
        pass

    def end(self):
        self.child.stdin.close()
        self.child.wait(TIMEOUT_SECONDS)


def connect(arguments):
    if arguments[0] == "http":
        return HttpServer(arguments[1])
    split = arguments.index("--")
    options = arguments[1:split]
    assert options[0::2] == ["--env"] * (len(options) // 2), options
    return StdioServer(arguments[split + 1 :], dict(pair.split("=", 1) for pair in options[1::2]))


def list_tools(server):
    entries = []
    params = {}
    while True:
        result = server.ask("tools/list", params)
        entries += [text for _, text in items(member(result, "tools"), 0)]
        cursor = member(result, "nextCursor")
        if cursor is None:
            return entries
        params = {"cursor": json.loads(cursor)}


def is_stateless(server):
    server.declare(STATELESS)
    try:
        supported = member(server.ask("server/discover", {}), "supportedVersions")
    except (AssertionError, urllib.error.HTTPError):
        supported = None
    if supported is not None and STATELESS in json.loads(supported):
        return True
    server.declare(None)
    return False


def open_session(server):
    hello = server.ask("initialize", {"protocolVersion": REVISION, "capabilities": {}, "clientInfo": CLIENT})
    revision = json.loads(member(hello, "protocolVersion"))
    server.agreed_on(revision)
    server.tell("notifications/initialized")
    return revision


def main():
    server = connect(sys.argv[1:])
    revision = STATELESS if is_stateless(server) else open_session(server)
    entries = list_tools(server)
    server.end()
    print(json.dumps({"protocolVersion": revision, "entries": entries}))


main()
