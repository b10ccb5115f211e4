"""Finds and links installed dependencies."""
