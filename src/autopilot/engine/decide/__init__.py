"""Decides what happens next. Pure."""
