"""How long a start takes: to the page, cold and warm, and to the first token; and the memory it holds.

Cold begins with an empty model cache, so it downloads and converts the models; warm is the next start.
"""

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import httpx
import psutil
from gradio_client import Client

ROOT = Path(__file__).resolve().parents[2]
PROMPT = "The weather on the coast is"


def start(folder: Path) -> dict[str, float]:
    """Start the application as `make run` does; seconds to the page and to tokens, memory in MB."""
    environment = {
        **os.environ,
        "SUBMIX_CACHE_DIR": str(folder / "cache"),
        "SUBMIX_DATA_DIR": str(folder / "data"),
        "SUBMIX_PORT": "0",
    }
    begun = time.perf_counter()
    subprocess.run(
        [sys.executable, "-m", "core", "models"],
        cwd=ROOT,
        env=environment,
        check=True,
        stdout=subprocess.DEVNULL,
    )
    brought = time.perf_counter()
    server = subprocess.Popen(
        [sys.executable, "app.py"], cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True
    )
    try:
        assert server.stdout is not None
        url = next(line.split()[-1] for line in server.stdout if "SubMix Studio is at" in line)
        assert httpx.get(url).status_code == 200
        page = time.perf_counter()
        client = Client(url, verbose=False)
        cold_token = _first_token(client)
        warm_token = _first_token(client)
        memory = psutil.Process(server.pid).memory_info().rss / 1e6
    finally:
        server.send_signal(signal.SIGTERM)
        server.wait(30)
    return {
        "models_s": brought - begun,
        "page_s": page - begun,
        "first_token_after_start_s": cold_token,
        "first_token_warm_s": warm_token,
        "resident_mb": memory,
    }


def _first_token(client: Client) -> float:
    begun = time.perf_counter()
    job = client.submit(PROMPT, 0.8, 50, 0.95, 4, api_name="/generate")
    while not job.outputs() and not job.done():
        time.sleep(0.005)
    taken = time.perf_counter() - begun
    job.result()
    return taken


def import_seconds() -> float:
    """The peer of a start: Python importing gradio, torch and transformers' model classes."""
    begun = time.perf_counter()
    code = "import gradio, torch; from transformers import AutoModelForCausalLM, AutoTokenizer"
    subprocess.run([sys.executable, "-c", code], check=True)
    return time.perf_counter() - begun


def main() -> None:
    """Print the table and the line of JSON."""
    with tempfile.TemporaryDirectory() as name:
        cold = start(Path(name))
        warm = start(Path(name))
    imports = import_seconds()
    print(f"{'':32}{'cold':>10}{'warm':>10}")
    for key in cold:
        print(f"{key:32}{cold[key]:>10.2f}{warm[key]:>10.2f}")
    print(f"{'importing the libraries alone, s':32}{'':>10}{imports:>10.2f}")
    ratios = {"warm_page_vs_imports": round(warm["page_s"] / imports, 2)}
    print(json.dumps({"bench": "start", "ratios": ratios, "cold": cold, "warm": warm}))


if __name__ == "__main__":
    main()
