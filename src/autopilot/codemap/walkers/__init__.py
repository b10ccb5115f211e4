"""Outlines source files: one module per language."""
