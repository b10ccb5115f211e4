"""The one way out of an agent's sandbox: a proxy that knows which hosts the user allows."""
