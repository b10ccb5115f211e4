"""Every source line fits the limit of lint.cfg, and nothing is printed."""

import configparser
import sys
from pathlib import Path

settings = configparser.ConfigParser()
settings.read("lint.cfg")
limit = settings.getint("lint", "longest_line")
wrong = [
    f"{path}:{number}"
    for path in sorted(Path("shelf").glob("*.py"))
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1)
    if len(line) > limit or (settings.getboolean("lint", "no_print") and "print(" in line)
]
print("\n".join(wrong))
sys.exit(bool(wrong))
