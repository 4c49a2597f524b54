"""SubMix Studio without its pages: private prediction, sanitizing, detection and attacks on text."""

__version__ = "0.1.0"
