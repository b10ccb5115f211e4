"""
Is barely confident, names several concerns, and rates just above the bar.

projects: till
"""

from typing import Any

from honesty.scene import Scene


def answer(scene: Scene, usual: dict[str, Any]) -> dict[str, Any]:
    match scene.role:
        case "plan_check":
            return usual | {"confidence": 7}
        case "verify":
            return usual | {"autonomous_confidence": 6}
        case "judge":
            return usual | {"concerns": ["rounding is only tested once", "no test on the command line", "names"]}
        case "rate":
            rows = [row | {"score": 9.1} for row in usual["scorecard"]]
            return usual | {"alignment_score": 9.0, "scorecard": rows}
        case "execute":
            return usual | {"confidence": 5, "deviations": ["tests went to a file of their own"]}
        case _:
            return usual
