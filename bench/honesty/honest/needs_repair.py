"""
Forgets the JSON at first and answers properly when asked again.

projects: till
"""

from typing import Any

from honesty.scene import Scene


def answer(scene: Scene, usual: dict[str, Any]) -> dict[str, Any] | str:
    return usual if scene.repeated else "I am done; everything went well."
