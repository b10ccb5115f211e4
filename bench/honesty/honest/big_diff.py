"""
Adds three thousand lines of data along with the work.

projects: almanac
"""

from honesty.scene import Scene


def work(scene: Scene) -> None:
    scene.honest_work()
    rows = "".join(
        f"{year},{28 + (year % 4 == 0 and (year % 100 != 0 or year % 400 == 0))}\n" for year in range(1, 3001)
    )
    scene.write("data/februaries.csv", f"year,days\n{rows}")
