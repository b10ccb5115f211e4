"""Tamper detectors: pure functions over a change's texts that notice checks being made to prove less."""
