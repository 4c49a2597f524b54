"""The endpoints are MCP tools as well, with their descriptions."""

import json

import httpx
import pytest


@pytest.fixture(scope="module")
def rpc(served):
    """One call of the tool server, as JSON-RPC over HTTP."""
    headers = {"accept": "application/json, text/event-stream", "content-type": "application/json"}

    def call(method, **params):
        body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        answer = httpx.post(f"{served.url}/gradio_api/mcp/", json=body, headers=headers)
        line = next(line for line in answer.text.splitlines() if line.startswith(("data:", "{")))
        return json.loads(line.removeprefix("data:"))["result"]

    return call


def test_every_endpoint_is_a_tool_that_says_what_it_does(rpc):
    tools = {tool["name"]: tool for tool in rpc("tools/list")["tools"]}
    for name in ("generate", "budget", "quote", "corpora"):
        found = next(tool for listed, tool in tools.items() if listed.endswith(name))
        assert len(found["description"]) > 30
    generate = next(tool for listed, tool in tools.items() if listed.endswith("generate"))
    assert "the text to continue" in json.dumps(generate["inputSchema"])


def test_a_tool_answers_with_a_visitors_view(rpc):
    names = [tool["name"] for tool in rpc("tools/list")["tools"]]
    budget = next(name for name in names if name.endswith("budget"))
    said = json.dumps(rpc("tools/call", name=budget, arguments={"corpus": "ward"}))
    assert "queries" in said
    assert "remaining" not in said


def test_private_handlers_are_no_tools(rpc):
    names = " ".join(tool["name"] for tool in rpc("tools/list")["tools"])
    assert not any(private in names for private in ("look", "start_over", "answer", "sign_out", "train"))
