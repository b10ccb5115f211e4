"""Reads configuration and detects commands."""
