"""Builds the `.git` that an agent may see."""
