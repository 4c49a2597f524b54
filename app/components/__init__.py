"""Pieces of pages: theme, header, escaped text."""
