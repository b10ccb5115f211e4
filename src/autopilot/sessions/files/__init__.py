"""Reads and writes the files of the session loop."""
