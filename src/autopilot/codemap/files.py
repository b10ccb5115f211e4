"""Files removed with the operating system's own call: importing `pathlib` takes longer than reading ten files."""

import os


def discard(name: str, folder: int | None = None) -> None:
    """Gone when this returns, if it was there at all; the name is below the folder where one is given."""
    try:
        os.unlink(name, dir_fd=folder)
    except FileNotFoundError:
        return
