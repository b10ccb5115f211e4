"""Roadmap, requirements, plans and config: text to values and back."""
