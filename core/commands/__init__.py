"""One file for each command of `python -m core`."""
