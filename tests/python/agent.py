"""An agent's MCP client, written with the official SDK: lists, calls, and waits for changes.

    agent.py MODE URL KEY SERVED HIDDEN

MODE is a revision without sessions, or `legacy`. Prints one JSON object a line: what was agreed on, the names of all tools,
what a call of SERVED and of HIDDEN brings, that it listens, and the names again after each change. It ends with its
standard input.
"""

import json
import sys
import threading

import anyio
import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError


def say(**facts):
    print(json.dumps(facts), flush=True)


async def names(client):
    tools, cursor = [], None
    while True:
        page = await client.list_tools(cursor=cursor)
        tools += [tool.name for tool in page.tools]
        cursor = page.next_cursor
        if cursor is None:
            return tools


async def call(client, name):
    try:
        result = await client.call_tool(name, {})
        say(called=name, is_error=result.is_error, text=result.content[0].text)
    except MCPError as error:
        say(called=name, code=error.error.code, text=error.error.message)


async def follow(client, changes):
    say(listening=True)
    async for _ in changes:
        say(tools=await names(client))


async def run(mode, url, key, served, hidden):
    told, changes = anyio.create_memory_object_stream(100)

    async def handler(message):
        if type(message).__name__ == "ToolListChangedNotification":
            await told.send(message)

    http = httpx2.AsyncClient(headers={"authorization": f"Bearer {key}"}, timeout=60)
    transport = streamable_http_client(url, http_client=http)
    async with http, Client(transport, mode=mode, message_handler=handler) as client:
        say(revision=client.session.protocol_version)
        say(tools=await names(client))
        await call(client, served)
        await call(client, hidden)
        if mode == "legacy":
            await follow(client, changes)
        else:
            async with client.listen(tools_list_changed=True) as subscription:
                await follow(client, subscription)


async def main():
    async with anyio.create_task_group() as group:
        async with anyio.from_thread.BlockingPortal() as portal:

            def wait_for_the_end():
                sys.stdin.read()
                portal.call(group.cancel_scope.cancel)

            threading.Thread(target=wait_for_the_end, daemon=True).start()
            await run(*sys.argv[1:])


anyio.run(main)
