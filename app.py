"""Starts SubMix Studio: `python app.py`, or `python app.py --share` for a link that others can open."""

import argparse
import sys

from app.main import build_demo, launch_options
from core.errors import InputError, StudioError
from core.settings import load_settings
from core.studio import Studio

SHARE_NEEDS_PASSWORD = (
    "A shared link is open to everybody who learns it. Set SUBMIX_CURATOR_PASSWORD first, "
    "so that only you are the curator."
)
SHARE_WARNING = (
    "Whoever has the link can spend the privacy budgets of the corpora here, and what they type passes "
    "through Gradio's tunnel. The link ends when this program does, and after 72 hours at the latest."
)


def main() -> None:
    """Read the settings, build the pages and serve them until interrupted."""
    parser = argparse.ArgumentParser(description="SubMix Studio")
    parser.add_argument("--share", action="store_true", help="also serve over a public link")
    share = parser.parse_args().share
    try:
        settings = load_settings()
        if share and settings.curator_password is None:
            raise InputError(SHARE_NEEDS_PASSWORD)
        studio = Studio(settings)
        demo = build_demo(studio)
        _, address, link = demo.launch(prevent_thread_lock=True, **launch_options(settings, share=share))
    except StudioError as error:
        sys.exit(f"Error: {error}")
    except OSError:
        place = f"port {settings.port} of {settings.host}"
        sys.exit(f"Error: {place} is in use or not ours to listen on. Set SUBMIX_PORT to a free port.")
    studio.warm_up()
    print(f"SubMix Studio is at {address}", flush=True)
    if share:
        made = (
            f"and, for others, at {link}. {SHARE_WARNING}" if link else "The public link could not be made."
        )
        print(made, flush=True)
    demo.block_thread()


if __name__ == "__main__":
    main()
