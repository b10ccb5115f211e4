"""Keeps an agent call alive when its run dies."""
