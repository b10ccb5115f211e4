"""Prepares a run from the planning files."""
