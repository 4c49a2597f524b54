"""Starts SubMix Studio: `python app.py`."""

import sys

from app.main import build_demo, launch_options
from core.errors import StudioError
from core.settings import load_settings
from core.studio import Studio


def main() -> None:
    """Read the settings, build the pages and serve them until interrupted."""
    try:
        settings = load_settings()
        studio = Studio(settings)
        demo = build_demo(studio)
        _, address, _ = demo.launch(prevent_thread_lock=True, **launch_options(settings))
    except StudioError as error:
        sys.exit(f"Error: {error}")
    except OSError:
        place = f"port {settings.port} of {settings.host}"
        sys.exit(f"Error: {place} is in use or not ours to listen on. Set SUBMIX_PORT to a free port.")
    studio.warm_up()
    print(f"SubMix Studio is at {address}", flush=True)
    demo.block_thread()


if __name__ == "__main__":
    main()
