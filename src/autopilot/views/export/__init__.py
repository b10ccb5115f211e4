"""Sends runs elsewhere: traces and notifications."""
