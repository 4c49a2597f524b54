"""The schema, one step a file."""
