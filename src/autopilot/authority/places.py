"""Names the user's own folder and the grants in it. Imports next to nothing, so that `status` stays fast."""

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping


def user_folder_name(environment: "Mapping[str, str]" = os.environ) -> str:
    """Where the folder is. XDG_STATE_HOME counts on every system; a relative path in it does not, as its rules say."""
    named = environment.get("XDG_STATE_HOME", "")
    if os.path.isabs(named):
        return os.path.join(named, "autopilot")
    home = environment.get("HOME") or os.path.expanduser("~")
    below = ("Library", "Application Support") if sys.platform == "darwin" else (".local", "state")
    return os.path.join(home, *below, "autopilot")


def grant_name(run: str, root: str) -> str:
    """The file of a run's grant. Runs of two folders may have one name, so that the real path of `root` is in it."""
    from hashlib import sha256

    return f"grants/{run}.{sha256(os.fsencode(root)).hexdigest()[:16]}.json"


def is_granted(run: str, root: str) -> bool:
    """Whether the user gave a grant to this run of the project in `root`: then the run is their own."""
    return os.path.isfile(os.path.join(user_folder_name(), grant_name(run, os.path.realpath(root))))
