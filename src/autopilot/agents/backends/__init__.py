"""One module a coding agent's program: how it is called, and what it tells."""
