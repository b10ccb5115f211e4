"""Defines what the program needs from the outside world, as protocols."""
