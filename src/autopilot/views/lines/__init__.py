"""Prints runs and results as plain lines."""
