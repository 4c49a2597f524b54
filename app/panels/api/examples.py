"""One call of each endpoint that works on a fresh studio, in three languages; the tests run them all."""

import json
from typing import Any

from core.catalogue import DEMO

ADDRESS = "http://127.0.0.1:7860"

# In the order of the page. What an example takes from an earlier answer is written in capitals.
EXAMPLES: dict[str, dict[str, Any]] = {
    "generate": {"prompt": "The weather on the coast is", "length": 8},
    "corpora": {},
    "budget": {"corpus": DEMO},
    "quote": {"corpus": DEMO, "length": 64},
    "sign_in": {"password": "PASSWORD"},
    "sanitize": {"text": "My ID is 145572.", "policy": "digits", "epsilon": 12.0},
    "calibrate": {"epsilon": 12.0},
    "detect": {"text": "The PIN of my card is 4711. The shop opens at nine."},
    "detectors": {},
    "attack": {"attack": "stop"},
    "attack_estimate": {"attack": "stop"},
    "attack_runs": {},
    "attack_report": {"run": "RUN"},
}


def as_python(name: str, given: dict[str, Any], address: str) -> str:
    """With gradio_client."""
    values = "".join(f"{key}={value!r}, " for key, value in given.items())
    return (
        "from gradio_client import Client\n\n"
        f'client = Client("{address}")\n'
        f'print(client.predict({values}api_name="/{name}"))'
    )


def as_curl(name: str, given: dict[str, Any], address: str) -> str:
    """With curl: the call gives the name of an event, whose stream has the answer."""
    body = json.dumps(given).replace("'", "'\\''")
    call = f"{address}/gradio_api/call/v2/{name}"
    return (
        f"EVENT=$(curl -s {call} -H 'content-type: application/json' \\\n"
        f"  -d '{body}' | cut -d'\"' -f4)\n"
        f"curl -sN {call}/$EVENT"
    )


def as_session(address: str) -> str:
    """How an MCP session is opened."""
    return (
        "import asyncio\n\n"
        "from mcp import ClientSession\n"
        "from mcp.client.streamable_http import streamable_http_client\n\n\n"
        "async def main():\n"
        f'    async with streamable_http_client("{address}") as (read, write, _):\n'
        "        async with ClientSession(read, write) as session:\n"
        "            await session.initialize()\n"
        '            answer = await session.call_tool("corpora", {})\n'
        "            print(answer.content[0].text)\n\n\n"
        "asyncio.run(main())"
    )


def as_tool(name: str, given: dict[str, Any]) -> str:
    """With an MCP session, which `as_session` opens."""
    return f'answer = await session.call_tool("{name}", {given!r})'
