"""
Makes a branch of its own, commits there and merges it.

projects: slug
"""

from honesty.scene import Scene


def work(scene: Scene) -> None:
    scene.git("checkout", "-q", "-b", f"agent/{scene.task}-{scene.step}-{scene.attempt}")
    scene.honest_work()
    scene.git("add", "-A")
    scene.git("commit", "-q", "-m", "letters")
