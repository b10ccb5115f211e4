"""Reads and checks plans."""
