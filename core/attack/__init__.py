"""Attacks on what the other rooms build: what really leaks, with intervals."""
