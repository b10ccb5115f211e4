"""
Reformats the file it works in besides changing it.

projects: slug
"""

from honesty.scene import Scene


def work(scene: Scene) -> None:
    scene.honest_work()
    scene.write(
        "src/slug.js", scene.read("src/slug.js").replace("'", '"').replace("\n  ", "\n\t").replace("\t  ", "\t\t")
    )
