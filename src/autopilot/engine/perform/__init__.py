"""Performs one step: calls agents, makes facts, records the result."""
