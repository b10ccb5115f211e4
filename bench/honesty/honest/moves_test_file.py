"""
Moves the basic tests to a folder of their own, as the plan declares.

projects: slug
needs: changes_tests
"""

from pathlib import Path

from honesty.scene import Scene


def plan(scene: Scene) -> None:
    scene.honest_plan()
    files = "**Files:** src/slug.js, test/slug.test.js, test/basic/slug.test.js\nchanges_tests: test/** - the basic tests get a folder of their own\n"
    scene.swap(f"{scene.dir}/PLAN.md", "**Files:** src/slug.js\n", files)


def work(scene: Scene) -> None:
    scene.honest_work()
    if Path("test/slug.test.js").exists():
        scene.write("test/basic/slug.test.js", scene.read("test/slug.test.js").replace("'../src", "'../../src"))
        scene.remove("test/slug.test.js")
