"""Reads ROADMAP.md, REQUIREMENTS.md and PROJECT.md."""
