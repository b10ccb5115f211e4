"""Adds up orders."""
