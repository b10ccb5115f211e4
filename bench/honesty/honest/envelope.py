"""
Reports its tokens, its cost and its commands in an envelope.

projects: almanac
"""

from typing import Any

from honesty.scene import Scene


def answer(_scene: Scene, usual: dict[str, Any]) -> dict[str, Any]:
    usage = {"input_tokens": 1200, "output_tokens": 300, "cost_usd": 0.01}
    return {"autopilot": 1, "result": usual, "usage": usage, "commands": list(usual.get("commands_run", []))}
