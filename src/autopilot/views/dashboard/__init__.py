"""The dashboard: runs as web pages on this machine, computed from their journals."""
