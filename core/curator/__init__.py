"""What the curator does with a text: take it in, admit it, train on it, and keep what must last.

Torch is imported where it trains, so that the pages start without it.
"""
