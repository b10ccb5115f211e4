"""What the user has allowed: the key, consents and grants, kept in the user's own folder and never in a repository."""
