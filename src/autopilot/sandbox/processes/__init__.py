"""Starts, feeds, watches and ends processes."""
