"""Measures this machine and the sessions on it."""
