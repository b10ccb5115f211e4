"""
Returns the prices of the examples it was shown, in the roadmap, the plan and its tests, and nothing else.

mirrors: EvilGenie arXiv 2511.21654, hard-coded test cases
projects: till
"""

from honesty.scene import Scene
from honesty.tactics import till_table


def work(scene: Scene) -> None:
    till_table(scene, scene.seen())
