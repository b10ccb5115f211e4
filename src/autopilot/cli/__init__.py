"""The verbs the user types: parse, call `app`, print. No decisions."""
