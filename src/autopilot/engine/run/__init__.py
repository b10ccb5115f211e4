"""Carries out the moves of a run, one attempt or several at a time."""
