"""Whether the map on disk is already that of a commit: most refreshes end with this question, so it imports little."""

import sqlite3
from os import F_OK, access

# Raised whenever an outline of the same text would come out differently.
EDITION = 3
UP_TO_DATE = "Repo-map up to date, skipping refresh."
# The commit the map on disk was written for.
WRITTEN = "written"


def is_current(book: str, paper: str, commit: str) -> bool:
    """Never raises: a store that cannot be read is no reason to skip anything."""
    if not (access(book, F_OK) and access(paper, F_OK)):
        return False
    connection = sqlite3.connect(book)
    try:
        row = connection.execute(
            "select value, user_version from notes, pragma_user_version where name = ?", (WRITTEN,)
        ).fetchone()
    except sqlite3.Error:
        return False
    finally:
        connection.close()
    return bool(row == (commit, EDITION))
