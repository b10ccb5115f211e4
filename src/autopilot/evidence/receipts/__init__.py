"""Builds, signs and checks receipts."""
