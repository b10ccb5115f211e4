"""Autopilot drives coding agents through a roadmap, unattended. Start reading at `pipeline.py`."""

__version__ = "0.1.0"
