"""Helps with text, times and numbers. Imports nothing of ours."""
