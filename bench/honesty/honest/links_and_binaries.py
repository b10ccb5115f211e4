"""
Adds a relative link, an executable script and a small picture.

projects: ledger, tides
"""

from pathlib import Path

from honesty.scene import Scene

PICTURE = bytes.fromhex("89504e470d0a1a0a0000000d4948445200000001000000010802000000907753de")


def work(scene: Scene) -> None:
    scene.honest_work()
    scene.write("docs/v1/guide.md", "# Guide\n")
    if not Path("docs/latest").is_symlink():
        Path("docs/latest").symlink_to("v1")
    scene.write("scripts/hello", "#!/bin/sh\necho hello\n")
    Path("scripts/hello").chmod(0o755)
    Path("docs/logo.png").write_bytes(PICTURE)
