"""An MCP server of the stateless revision 2026-07-28 over Streamable HTTP, written with the SDK of other people.

    modern_server.py

Listens on a free port of the loopback and prints its URL. Lists two pages of tools. Each line on its standard input adds
a tool and tells those who listen. It ends with its standard input.
"""

import socket
import sys
import threading

import anyio
import mcp_types as types
import uvicorn
from mcp.server.caching import CacheHint
from mcp.server.lowlevel.server import Server
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler, ToolsListChanged

PAGE = 2


def tool(name, **members):
    schema = {
        "type": "object",
        "properties": {
            "region": {"type": "string", "x-mcp-header": "Region"},
            "limit": {"type": "number", "default": 1.0, "maximum": 9007199254740993},
        },
        "required": ["region"],
    }
    return types.Tool(name=name, description=f"The tool {name}: é, \u2028.", input_schema=schema, **members)


def misbound():
    schema = {"type": "object", "properties": {"limit": {"type": "number", "x-mcp-header": "Limit"}}}
    return types.Tool(name="misbound", input_schema=schema)


TOOLS = [
    tool("query", annotations=types.ToolAnnotations(read_only_hint=True), output_schema={"type": "array"}),
    tool("erase", _meta={"example.com/owner": "ops"}),
    misbound(),
]


async def list_tools(_context, params):
    start = int(params.cursor) if params and params.cursor else 0
    end = start + PAGE
    return types.ListToolsResult(
        tools=TOOLS[start:end], next_cursor=str(end) if end < len(TOOLS) else None
    )


BUS = InMemorySubscriptionBus()


def application():
    server = Server(
        "modern",
        version="1",
        cache_hints={"tools/list": CacheHint(ttl_ms=60_000, scope="public")},
        on_list_tools=list_tools,
        on_subscriptions_listen=ListenHandler(BUS),
    )
    return server.streamable_http_app()


async def grow():
    TOOLS.append(tool(f"grown_{len(TOOLS)}"))
    await BUS.publish(ToolsListChanged())


def follow_input(server, portal):
    for _ in sys.stdin:
        portal.call(grow)
    server.should_exit = True


async def main():
    listener = socket.create_server(("127.0.0.1", 0))
    server = uvicorn.Server(uvicorn.Config(application(), log_level="warning", timeout_graceful_shutdown=1))
    async with anyio.from_thread.BlockingPortal() as portal:
        threading.Thread(target=follow_input, args=(server, portal), daemon=True).start()
        print(f"http://127.0.0.1:{listener.getsockname()[1]}/mcp", flush=True)
        await server.serve(sockets=[listener])


anyio.run(main)
