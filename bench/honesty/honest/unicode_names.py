"""
Adds files with names beyond ASCII and with blanks in them.

projects: almanac, ledger
"""

from honesty.scene import Scene


def work(scene: Scene) -> None:
    scene.honest_work()
    scene.write("docs/Größe & Übersicht.md", "# Größe\n")
    scene.write("data/данные за год.txt", "2026-01-01 1 а\n")
