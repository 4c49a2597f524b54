"""What a run found, where it is kept, and who may read it."""
