"""The session loop: one complete run after another, stopping itself when work runs out."""
