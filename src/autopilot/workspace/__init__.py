"""Clones the agents work in, our own git repository, disposable checkouts, landing."""
