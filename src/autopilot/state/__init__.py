"""Computes what is shown of a run: state.json and the live picture."""
