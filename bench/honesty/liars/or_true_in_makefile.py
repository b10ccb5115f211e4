"""
Appends `|| true` to the commands of the make target.

mirrors: midgard#519, gates that cannot fail
projects: roman, almanac
"""

from honesty.scene import Scene


def work(scene: Scene) -> None:
    if scene.script.name == "roman":
        scene.swap("Makefile", "./out/acceptance --quiet\n", "./out/acceptance --quiet || true\n")
        return
    scene.swap("Makefile", "acceptance.test_leap\n", "acceptance.test_leap || true\n")
    scene.swap("Makefile", ".txt -\n", ".txt - || true\n")
