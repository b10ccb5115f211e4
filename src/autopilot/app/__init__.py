"""Implements what the user can ask for. The only package that builds real adapters."""
