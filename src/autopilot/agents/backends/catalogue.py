"""Every program there is an adapter for, in the order `--agent auto` looks for them."""

from autopilot.agents.backend import Backend
from autopilot.agents.backends import app_server, claude, codex, copilot, gemini, goose, opencode, pi, qwen

PREFERRED: tuple[Backend, ...] = (
    claude.BACKEND,
    codex.BACKEND,
    gemini.BACKEND,
    opencode.BACKEND,
    goose.BACKEND,
    qwen.BACKEND,
    copilot.BACKEND,
    pi.BACKEND,
)
BY_NAME: dict[str, Backend] = {backend.name: backend for backend in (*PREFERRED, app_server.BACKEND)}
