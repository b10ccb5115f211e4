"""The nouns: frozen values, some protocols, errors. Imports only `text` and does no I/O."""
