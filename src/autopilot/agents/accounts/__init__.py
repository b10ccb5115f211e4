"""Lends each call its own account and home, and nothing else of the user's."""
