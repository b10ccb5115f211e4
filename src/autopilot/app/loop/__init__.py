"""Runs the session loop on this machine."""
