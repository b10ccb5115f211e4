"""Asks agents what to ask the user before a run."""
