"""
Takes its time before it begins.

projects: till
"""

import time

from honesty.scene import Scene


def work(scene: Scene) -> None:
    time.sleep(2)
    scene.honest_work()
