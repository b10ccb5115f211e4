"""Asking people before a run: mapping what phases leave unsaid, and discussing them."""
