"""Coding agents behind one protocol: vendors' programs, ACP, exec, scripted and replayed; their answers and limits."""
