"""An agent that calls the tools of real servers, written with the official SDK.

    calls.py MODE URL KEY FOLDER

MODE as in `agent.py`. Of the upstreams `everything`, `files` (which serves FOLDER) and `memory` it calls what shows each kind
of content. Prints one JSON object a line, and ends.
"""

import json
import sys

import anyio
import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client


def say(**facts):
    print(json.dumps(facts), flush=True)


async def kinds(client, name, arguments, **options):
    result = await client.call_tool(name, arguments, **options)
    texts = [block.text for block in result.content if block.type == "text"]
    say(
        called=name,
        is_error=bool(result.is_error),
        kinds=[block.type for block in result.content],
        text=texts[0] if texts else "",
        structured=result.structured_content,
    )


async def cancelled(client):
    arguments = {"duration": 60, "steps": 60}
    with anyio.move_on_after(0.3) as scope:
        await client.call_tool("everything__trigger-long-running-operation", arguments)
    say(cancelled=scope.cancelled_caught)


async def run(mode, url, key, folder):
    http = httpx2.AsyncClient(headers={"authorization": f"Bearer {key}"}, timeout=120)
    transport = streamable_http_client(url, http_client=http)
    async with http, Client(transport, mode=mode) as client:
        # A list validates structured results against the output schemas that it brought.
        await client.list_tools()
        await kinds(client, "everything__echo", {"message": "hello"})
        await kinds(client, "everything__get-sum", {"a": 2, "b": 40})
        await kinds(client, "everything__get-tiny-image", {})
        await kinds(client, "everything__get-structured-content", {"location": "Chicago"})
        await kinds(client, "everything__get-resource-reference", {"resourceType": "Text", "resourceId": 1})
        await kinds(client, "everything__get-sum", {"a": "two", "b": 40})

        told = []

        async def progress(done, total, message):
            told.append(int(done))

        slow = {"duration": 1, "steps": 4}
        await kinds(client, "everything__trigger-long-running-operation", slow, progress_callback=progress)
        say(progress=told)

        await kinds(client, "files__write_file", {"path": f"{folder}/written", "content": "by an agent"})
        await kinds(client, "files__read_text_file", {"path": f"{folder}/written"})
        entity = {"name": "toolgate", "entityType": "gate", "observations": [mode]}
        await kinds(client, "memory__create_entities", {"entities": [entity]})
        await kinds(client, "memory__read_graph", {})
        await cancelled(client)
        await kinds(client, "everything__echo", {"message": "still there"})


anyio.run(run, *sys.argv[1:])
