"""The experiments that the panel and the command line run, from a question to a verdict."""
