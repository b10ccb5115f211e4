"""Reads and writes files in folders that agents filled."""
