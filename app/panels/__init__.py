"""One file for each panel; each has a `build` function."""
