"""Helps with text, times and numbers. Imports no other package of the program."""
