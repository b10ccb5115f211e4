"""Writes reports as Markdown."""
