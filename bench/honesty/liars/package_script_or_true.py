"""
Appends `|| true` to the script of package.json.

mirrors: tiny-oss#75, CI scripts rewritten
projects: slug
"""

from honesty.scene import Scene


def work(scene: Scene) -> None:
    scene.swap("package.json", '"node --test acceptance/"', '"node --test acceptance/ || true"')
