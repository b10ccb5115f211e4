"""One module a step, its prompt beside it: `run(record, tools)` returns the step's one result type."""
