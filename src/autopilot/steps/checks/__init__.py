"""Makes the facts that steps need beyond a plain command."""
