"""What a script would do: call any handler of a page by its number, documented or not."""

import re
from typing import Any

import httpx

# How long something took has digits too, and they may be anybody's.
_TIMES = re.compile(r'"(?:\w+_)?(?:duration|eta|time)": ?[\d.e-]+')


class Caller:
    """Calls handlers as the browser does: through the queue where they are queued, directly otherwise."""

    def __init__(self, url: str) -> None:
        self._http = httpx.Client(base_url=url, timeout=240)
        config = self._http.get("/config").json()
        components = {component["id"]: component for component in config["components"]}
        self.handlers: list[tuple[dict[str, Any], list[dict[str, Any]]]] = [
            (dependency, [components[number] for number in dependency["inputs"]])
            for dependency in config["dependencies"]
            if dependency["backend_fn"]
        ]
        self.endpoints = self._http.get("/gradio_api/info").json()["named_endpoints"]

    def call(self, dependency: dict[str, Any], data: list[Any], session: str) -> str:
        """All that the server sends back."""
        body = {"fn_index": dependency["id"], "data": data, "session_hash": session}
        if dependency["queue"] is False:
            return _TIMES.sub("", self._http.post("/gradio_api/run/predict", json=body).text)
        joined = self._http.post("/gradio_api/queue/join", json=body)
        said = joined.text
        if joined.status_code == 200:
            where = {"session_hash": session}
            with self._http.stream("GET", "/gradio_api/queue/data", params=where) as answer:
                for line in answer.iter_lines():
                    said += _TIMES.sub("", line)
                    if '"process_completed"' in line or '"close_stream"' in line:
                        break
        return said

    def close(self) -> None:
        """Close the connections."""
        self._http.close()
