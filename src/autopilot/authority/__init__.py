"""Stores what the user has allowed: key, consents and grants, in the user's own folder and never in a repository."""
