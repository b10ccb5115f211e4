"""Holds the pure rules that decide, one subject per module."""
