"""Decide what is next, perform it, record it; again. Knows the pipeline's shape, not what its steps do."""
