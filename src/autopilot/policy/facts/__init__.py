"""Decides what facts mean: commands, criteria, test counts, tampering."""
