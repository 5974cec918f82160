"""The stories, in order, on ports only."""
