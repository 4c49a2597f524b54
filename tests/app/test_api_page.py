"""The API page: every endpoint is on it, and every example on it runs, in each of its three languages."""

import ast
import asyncio
import html
import json
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest
from mcp import ClientSession
from mcp.client.streamable_http import streamable_http_client

from app.panels.api.examples import EXAMPLES, as_curl, as_python, as_session, as_tool
from core.catalogue import DEMO
from tests.app.calling import Caller
from tests.app.conftest import PASSWORD

CALL = re.compile(r'answer = await session.call_tool\("(\w+)", (.*)\)')


@pytest.fixture(scope="module")
def filled(served):
    """The examples with what they take from earlier answers; this studio's synthetic corpus is `notes`."""
    caller = Caller(served)
    caller.call("attack", ["stop", "", "", 0, 0.0, 0, "", "", "", ""])
    run = caller.call("attack_runs", [""])["data"][0][0]["id"]
    values = {"RUN": run, "PASSWORD": PASSWORD, DEMO: "notes"}
    return {
        name: {
            key: values.get(value, value) if isinstance(value, str) else value for key, value in given.items()
        }
        for name, given in EXAMPLES.items()
    }


def test_every_endpoint_has_an_example_and_is_on_the_page(served):
    named = httpx.get(f"{served.url}/gradio_api/info").json()["named_endpoints"]
    assert {f"/{name}" for name in EXAMPLES} == set(named)
    page = _page(served)
    for name in EXAMPLES:
        assert f'id="api-{name}"' in page
    assert f"{served.url}/gradio_api/mcp/" in html.unescape(page)
    assert "the text to rewrite, at most 20,000 characters" in page  # what is said of each argument


def test_what_an_argument_is_is_said_to_its_end(served):
    """Gradio takes the first line of what a docstring says of an argument: a sentence must end there."""
    said = re.findall(r'data-name="what it is">([^<]+)<', _page(served))
    assert len(said) > 30
    assert [words for words in said if not html.unescape(words).endswith((".", '."'))] == []


def test_the_session_that_the_tools_need_is_opened_as_the_page_says(served):
    code = as_session(f"{served.url}/gradio_api/mcp/")
    ended = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=280, check=True
    )
    assert "notes" in ended.stdout
    assert html.escape(code.splitlines()[2]) in _page(served)


def _page(served) -> str:
    caller = Caller(served)
    handler = next(
        name
        for name, each in caller.handlers.items()
        if [caller.components[out]["props"].get("elem_id") for out in each["outputs"]] == ["api-endpoints"]
    )
    return caller.call(handler, [])["data"][0]


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_python_of_an_endpoint_runs(served, filled, name):
    printed: list = []
    exec(as_python(name, filled[name], served.url), {"print": printed.append})
    assert printed
    assert printed[0] is not None


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_curl_of_an_endpoint_runs(served, filled, name):
    said = subprocess.run(
        ["bash", "-c", as_curl(name, filled[name], served.url)],
        capture_output=True, text=True, timeout=280, check=True,
    ).stdout  # fmt: skip
    assert re.search(r"^event: complete$", said, re.MULTILINE), said[-500:]
    assert json.loads(said.strip().splitlines()[-1].removeprefix("data: "))


def test_the_tools_run(served, filled):
    async def ask() -> dict[str, str]:
        answers = {}
        address = f"{served.url}/gradio_api/mcp/"
        async with streamable_http_client(address) as (read, write, _), ClientSession(read, write) as session:
            await session.initialize()
            for name, given in filled.items():
                called, values = CALL.findall(as_tool(name, given))[0]
                answer = await session.call_tool(called, ast.literal_eval(values))
                assert not answer.isError, (name, answer.content)
                answers[name] = str(answer.content)
        return answers

    with ThreadPoolExecutor(1) as apart:  # a thread has no event loop yet, whatever ran here before
        answers = apart.submit(asyncio.run, ask()).result()
    assert "145572" not in answers["sanitize"]
    assert set(answers) == set(EXAMPLES)


def test_quotes_in_an_example_reach_the_server_as_they_are():
    code = as_curl("sanitize", {"text": 'it\'s "so" $HOME `id` \\'}, "http://localhost:1")
    script = code.replace("curl -s http", "printf '%s\\n' http").split("| cut")[0].removeprefix("EVENT=$(")
    said = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=True).stdout
    assert json.loads(said.splitlines()[-1]) == {"text": 'it\'s "so" $HOME `id` \\'}
