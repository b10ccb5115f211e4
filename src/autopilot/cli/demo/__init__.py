"""The demo: a whole run on a sample project with written answers, so that no account is needed."""
