"""Edits planning files and leaves other bytes alone."""
