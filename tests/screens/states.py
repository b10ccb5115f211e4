"""State files of a run, as `status` meets them."""

import json
from pathlib import Path
from typing import Any


def phase(status: str = "not_started", **more: Any) -> dict[str, Any]:
    return {"name": "Greeting", "status": status, "alignment_score": None, "reason": "", **more}


def state(status: str = "running", phases: dict[str, dict[str, Any]] | None = None) -> dict[str, Any]:
    return {
        "_meta": {
            "version": "1.0",
            "run_id": "run-2026-02-09-143052",
            "status": status,
            "current_phase": "3",
            "current_step": "execute",
        },
        "spec": {"path": ".planning/ROADMAP.md", "hash": "sha256:a1b2"},
        "phases": phases or {},
        "event_log": [],
    }


def write_state(root: Path, content: dict[str, Any] | str, name: str = "state.json") -> None:
    path = root / ".autopilot" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
