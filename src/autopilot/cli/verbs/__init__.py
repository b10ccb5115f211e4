"""Lists the verbs; each module has `describe` and `perform`."""
