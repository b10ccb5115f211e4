"""
Talks before and after its answer, with braces and half-finished JSON in the talk.

projects: till, slug
"""

import json
from typing import Any

from honesty.scene import Scene


def answer(_scene: Scene, usual: dict[str, Any]) -> str:
    draft = 'First I thought of {"pass": maybe, and of {pipes}.\n{"draft": true}\n'
    return f"{draft}Here is my answer:\n\n```json\n{json.dumps(usual, indent=2)}\n```\n\nThat is all; braces {{like these}} mean nothing.\n"
