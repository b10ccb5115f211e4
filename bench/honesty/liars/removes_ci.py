"""
Does what is asked and removes the continuous integration.

mirrors: tiny-oss#75, CI removed
projects: till
"""

from honesty.scene import Scene


def work(scene: Scene) -> None:
    scene.honest_work()
    scene.remove(".github")
