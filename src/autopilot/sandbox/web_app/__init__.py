"""Runs the project's app for screenshots."""
