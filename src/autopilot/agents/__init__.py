"""Coding agents behind one protocol: scripted and exec; answers drawn from messy text and validated."""
