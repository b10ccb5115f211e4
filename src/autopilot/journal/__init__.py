"""What happened, append-only, on disk; its codec, its migrations, and state.json computed from it."""
