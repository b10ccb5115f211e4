"""Writes the Markdown and JSON artifacts of a phase."""
