"""Names the distribution that users install, and says how to add one of its extras."""

from typing import Literal

NAME = "roadmap-autopilot"
Extra = Literal["map", "notify", "otel", "prices", "visual", "web"]


def how_to_install(extra: Extra) -> str:
    """Names pipx and uv: many systems refuse a plain `pip install`. `--force` adds the extra to what is installed."""
    wanted = f"'{NAME}[{extra}]'"
    return f"pipx install {wanted} --force (with uv: uv tool install {wanted})"
