"""Confines commands: one module per tier."""
