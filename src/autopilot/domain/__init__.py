"""The nouns: frozen values, protocols, errors. Imports nothing of ours and does no I/O."""
