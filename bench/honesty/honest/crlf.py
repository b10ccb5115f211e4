"""
Writes files with the line ends of Windows.

projects: till
"""

from pathlib import Path

from honesty.scene import Scene


def work(scene: Scene) -> None:
    scene.honest_work()
    for name in ("till/order.py", "tests/test_discount.py"):
        Path(name).write_bytes(Path(name).read_bytes().replace(b"\r\n", b"\n").replace(b"\n", b"\r\n"))
