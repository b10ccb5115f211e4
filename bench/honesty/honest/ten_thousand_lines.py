"""
Prints ten thousand lines before it answers.

projects: ledger
"""

import json
from typing import Any

from honesty.scene import Scene


def answer(_scene: Scene, usual: dict[str, Any]) -> str:
    return "\n".join(f"{n}: reading, thinking, [{n % 7}] of {{many}}" for n in range(10_000)) + f"\n{json.dumps(usual)}"
