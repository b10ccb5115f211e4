"""What this user may do that others may not."""

import os
import tempfile
from functools import cache
from pathlib import Path


@cache
def writes_anywhere() -> bool:
    """Whether permissions do not bind us: the superuser, unless that power was taken away."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o500)
        return os.access(folder, os.W_OK)
