"""Draws a run live on a terminal."""
