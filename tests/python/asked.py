"""An agent that is asked for more at a call, written with the official SDK.

    asked.py URL KEY NAME

Calls NAME in revision 2026-07-28 and consents to everything that it is asked for. Prints one JSON object a line: each
question, then the result; and ends.
"""

import json
import sys

import anyio
import httpx2
import mcp_types as types
from mcp import Client
from mcp.client.streamable_http import streamable_http_client


def say(**facts):
    print(json.dumps(facts), flush=True)


async def consent(_context, params):
    say(asked=params.message)
    return types.ElicitResult(action="accept", content={"ok": True})


async def run(url, key, name):
    http = httpx2.AsyncClient(headers={"authorization": f"Bearer {key}"}, timeout=60)
    transport = streamable_http_client(url, http_client=http)
    async with http, Client(transport, mode="2026-07-28", elicitation_callback=consent) as client:
        result = await client.call_tool(name, {"file": "a"})
        say(is_error=bool(result.is_error), text=result.content[0].text)


anyio.run(run, *sys.argv[1:])
