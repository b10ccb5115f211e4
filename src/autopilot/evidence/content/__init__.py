"""Checks what changed files contain."""
