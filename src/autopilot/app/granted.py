"""Tells whether a run is the user's own, by the grant they gave when they started it. Loads next to nothing."""

from pathlib import Path

from autopilot.authority.user_folder import grant_name, user_folder_path


def is_granted(run: str, root: str) -> bool:
    return (user_folder_path() / grant_name(run, Path(root).resolve())).is_file()
