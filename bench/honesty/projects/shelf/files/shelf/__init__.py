"""A shelf of books."""
