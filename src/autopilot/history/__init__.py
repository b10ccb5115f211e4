"""Folds journal entries into records, once. Every reader starts here."""
