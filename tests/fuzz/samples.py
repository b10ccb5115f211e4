"""What each target reads when all is well: where a fuzzer begins, and what the suite cuts to pieces."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from support.players import STREAMS
from support.project import ROADMAP as LETTERS
from support.project import honest, plan_text, toml

DATA = Path(__file__).parents[1] / "data"

ROADMAP = b"# R\n- [x] **Phase 1: A** - a\n### Phase 2.1: B (INSERTED)\n**Goal**: g\n**Depends on**: Phase 1\n1. x -- verified by: `a` (returns 2)\n| Phase | Status |\n|--|--|\n| 01 | Done |\n"
PLAN = b'---\nphase: 1\ndepends_on: ["01-01"]\n---\n## Wave 1\n<task id="01-01" type="auto">\n<files>a.py (new)</files>\n<verify><automated>make test</automated></verify>\n</task>\n'
CONFIG = b'{"project": {"commands": {"test": "make"}, "ui": 3}, "limits": {"x": 1e999}, "workflow": []}'
REQUIREMENTS = b"## v2.0 Requirements\n- [x] **A-01\n**: text\n  more\n## Later\n- **B-01**: b\n| Requirement | Phase |\n|--|--|\n| A-01 through A-03 | All phases |\n"
CRITERION = b"It works -- verified by: ``a `b` c`` and `d` (returns at least 2)"
STATE = b"---\nstatus: executing\nmilestone: v1\n---\n# S\nPhase: 2 of 4 (Menu)\nPlan: 1\nProgress: [##] 40%\n| Phase | Plans |\n|--|--|\n| 2. Menu | 1/2 |\n"
PROJECT = b"# Project: P\n## What This Is\nx\n## Core Value\ny\n## Requirements\n### Validated\n- \xe2\x9c\x93 a\n## Key Decisions\n| D | W |\n|--|--|\n| a | b |\n"
ANSWERS_TOML = (
    b'[phases.3]\nQ1 = "yes"\n[phases.3.discuss]\nareas = "all"\nLayout = ["two", "one"]\nideas = ["later"]\n'
)
ANSWERS_JSON = b'{"phases": {"3": {"Q1": "yes", "discuss": {"areas": [1], "Layout": {"1": "two"}}}}}'
ANSWERS_LINES = b"Phase 3, Q1: yes\nmore of it\nPhase 3, areas: all\n03 Layout, Q 2: two\nidea: later\nQ4: b)\n"
BEGINNING = b'name = "P"\ngoal = "G"\n[[phases]]\nname = "A"\ngoal = "g"\ncriteria = ["x -- verified by: `y`"]\n'
BEGINNING_MD = b"# Project: P\nA goal.\n## Phase 1: A\nGoal: g\n- c\n## Phase 2: B\n1. d\n"
CHOICES = b'sandbox = "auto"\nkeep_awake = false\n[agent]\nconfine = true\nfolders = [".config/x"]\n[notify]\ndesktop = true\n'
CONTEXT = b"# Phase 1: A - Context\n\n**Gathered:** 2025-01-01\n\n## Phase Boundary\n\nx\n\n## Implementation Decisions\n\n- mine\n\n### Claude's Discretion\n\n## Deferred Ideas\n"
ENVELOPE = b'Sure: {"pass": true} {"autopilot": 1, "result": {"pass": true, "confidence": 9.0, "issues": [{"severity": "blocker"}]}, "usage": {"input_tokens": 7, "output_tokens": 1e3, "cost_usd": 0.25}, "commands": ["ls"], "rate_limit": {"resets_at": "2026-01-01T05:00:00Z"}} bye'
LIMITS = (
    b"You've hit your usage limit. Try again at 7:20pm (Europe/Berlin).",
    b"rate limit: retry-after: 3600; resets at 2026-02-10T05:00:00+02:00 or Feb 12, 7am UTC+3",
    b"quota exceeded, available in 2 days and 3h 12m 5.5s, tomorrow at noon, resets 1770700000",
)
COUNTS = b"12 passed, 3 failed\nRan 3 tests in 0.1s\nFAILED (failures=1, errors=1, skipped=1)\ntest a::b ... FAILED\ntest result: ok. 3 passed; 1 failed\n# pass 4\nnot ok 1 - x (3ms)\n--- FAIL: TestA\nFAILED tests/a.py::b\n"
JUNIT = b'<testsuite><testcase classname="a" name="b"/><testcase name="c &amp; d"><failure/></testcase><testcase name="s"><skipped/></testcase></testsuite>'
CHANGE = b"def test_a():\n    assert f(1) == 2\n\0\0import pytest\n@pytest.mark.skip\ndef test_a():\n    assert True or f(1) == 2\n"
SHELL_CHANGE = (
    b"set -e\nmake test\n\0\0set +e\nmake test || true\nexit 0\ntrap 'exit 0' EXIT\ncat <<END\n$(x)\nEND\nif x; then"
)
KEPT = b'{"version": "1.0", "phases": {"3": {"phase_name": "A", "context_score": 4, "questions": [{"question": "q", "answer": null, "area": "a"}]}}}'
SAID = b'{"id": "1", "run": "run-1", "phase": "1", "verdict": "pass", "issues": ["x"]}'
HEAD = b"00000000000000000001 " + b"a" * 64 + b" " + b"b" * 64 + b"\n"
HELD = b'{"call": "r/1/plan/1", "mark": "m", "whose": "", "cwd": "/", "asked": "a", "boot": "b"}'
RESULT = b"ended 0 1.250 12 0\n"
SESSION_STATE = b"---\nrecommended-mode: deep\ntop-priorities: [1, 2.10, 'x']\ncarryover-ratio: 0x1f\ncompletion-rate: 1e2\nrationale: \"r\"\n---\n# key: value\npid: 12\n"
SESSION_LINE = b'{"session_id": "s-1", "session_type": "deep", "started_at": "2026-01-01T00:00:00Z", "completed_at": "2026-01-01T01:00:00Z", "duration_seconds": 3600, "schema_version": 1, "total_waves": 5, "waves": [{"agent_count": 2}], "agent_summary": {"complete": 2, "partial": 0, "failed": 0, "spiral": 0}, "total_files_changed": 3, "effectiveness": {"planned_issues": 2, "completed": 1, "carryover": 1, "completion_rate": 0.5}}\n'
LEARNING = b'{"id": "l", "type": "effective-sizing", "subject": "deep", "confidence": 0.5, "evidence": ["e"], "created_at": "2026-01-01T00:00:00Z", "expires_at": "2026-03-01T00:00:00+01:00"}\n### Human Verdict: Phase 3 -- PASS (x)\n'
PACKAGE = b'{"name": "x", "dependencies": {"version": "1.0.0"}, "version": "1.2.3", "scripts": {"test": "jest", "build": "tsc"}}\n## [Unreleased]\n## [1.2.3]\n'
MAKEFILE = b"test:\n\tpytest -q\nlint:\n\truff check\n[tool.pytest.ini_options]\n[project]\nname = 'x'\n"
SOURCES = {
    "python": b"from a import b as c\nclass D(E):\n    async def f(self):\n        return g(h())\n'''\nx\n'''\n",
    "typescript": b"import {a as b} from './c';\nexport default class D<T> extends E { m(): void { f(g()) } }\nexport type X = {a: 1};\n",
    "tsx": b"import React from 'react';\nexport const A = () => <B c={d()}>{`x${1}`}</B>;\n",
    "javascript": b"const {a} = require('./b');\nmodule.exports = { c: () => d(/x/g) };\nexport * from './e';\n",
    "go": b'package a\nimport (\n b "c/d"\n)\ntype E struct{ F int }\nfunc (e *E) G() { b.H() }\n',
    "rust": b"use a::{b, c as d};\npub struct E<'a>(&'a str);\nimpl E<'_> { pub fn f(&self) { g!(h()) } }\n",
    "java": b"package a;\nimport static b.C.*;\npublic class D<E> { @F public void g() { new H().i(); } }\n",
    "csharp": b"using A;\nnamespace B { public record C(int D) { public void E() => F(); } }\n",
    "c": b'#include "a.h"\n#define B(x) c(x)\nstatic int d(struct e *f) { return g(B(1)); }\n',
    "cpp": b"#include <a>\nnamespace b { template<class T> class C : D { void e() const { f<T>(); } }; }\n",
    "ruby": b"require_relative 'a'\nmodule B\n  class C < D\n    def e!(f) = g f\n    attr_reader :h\n  end\nend\n",
    "php": b"<?php\nuse A\\B;\nrequire_once 'c.php';\nfinal class D extends E { public function f(): void { g(); } }\n",
}
SAMPLES: dict[str, tuple[bytes, ...]] = {
    "roadmap": (ROADMAP, b"1-3\0" + ROADMAP, b"all\0" + LETTERS.encode()),
    "plan": (PLAN, plan_text("1", [("a.txt", "done")]).encode()),
    "config": (CONFIG,),
    "requirements": (REQUIREMENTS,),
    "criteria": (CRITERION,),
    "project": (PROJECT,),
    "state": (STATE,),
    "answers_file": (ANSWERS_TOML, ANSWERS_JSON, ANSWERS_LINES),
    "beginnings": (BEGINNING, BEGINNING_MD),
    "user_choices": (CHOICES,),
    "edits": (ROADMAP, LETTERS.encode()),
    "context_md": (CONTEXT,),
    "manifests": (PACKAGE, MAKEFILE),
    "exec_answers": (ENVELOPE,),
    "exec_replies": (b"\0" + ENVELOPE, b"\x4b" + ENVELOPE + b"\0\0oops \x1b]0;x\x07"),
    "typed_answers": tuple(json.dumps(answer["result"]).encode() for answer in honest() if "result" in answer),
    "reset_times": LIMITS,
    "scripts": (toml(honest()[:4]).encode(),),
    "typed_words": (ANSWERS_LINES,),
    "secrets": (b'{"k": "sk-ant-' + b"a1" * 20 + b'", "u": "https://a:b@c", "t": "hush-hush-hush"}',),
    "receipts": (b'{"_type": "https://in-toto.io/Statement/v1", "subject": [], "predicate": {"result": "PASSED"}}',),
    "inbox": (SAID,),
    "asked_files": (KEPT,),
    "head": (HEAD.ljust(4096, b"\0") + HEAD,),
    "state_file": (b'{"_meta": {"schema": 1}, "run_id": "run-1", "phases": {"1": {"status": "completed"}}, "event_log": []}',),
    "held_calls": (HELD, RESULT),
    "session_state": (SESSION_STATE,),
    "session_lines": (SESSION_LINE,),
    "learnings": (LEARNING,),
    "versions": (PACKAGE, b"v1.2.3\n", b"Bump the minor version, or the patch\n"),
    "test_counts": (COUNTS,),
    "junit": (JUNIT,),
    "changes": (CHANGE, SHELL_CHANGE),
    "data_files": (b'{"a": [1, 2.5, "x"]}\n{"b": 1}\n', b"a,b\n1,2\n", b"[a]\nb = 1979-05-27T07:32:00Z\n", b'// c\n{"a": 1,}'),
    "expectations": (b"EXIT:2\n7 errors\nsrc/a.py:12 line 3 of b.py\n-4",),
    "differences": (b"a.txt\0\xff\xfe\0:100644\0a\tb\nc",),
    **{f"source_{grammar}": (text,) for grammar, text in SOURCES.items()},
}  # fmt: skip


def of_target(name: str) -> tuple[bytes, ...]:
    """Never empty."""
    return SAMPLES.get(name) or tuple(_recorded(name))


def _recorded(name: str) -> Iterator[bytes]:
    if name == "codec":
        rows = (DATA / "runs" / "feast.jsonl").read_text(encoding="utf-8").splitlines()
        kinds = {json.loads(row)["event"]["kind"]: json.dumps(json.loads(row)["event"]) for row in rows}
        yield from (row.encode() for row in kinds.values())
    elif name == "recordings":
        yield from (_recording(agent, events) for agent, events in STREAMS.items())
        yield _recording("exec", [{"pass": True}])
    else:
        agent = name.removeprefix("stream_").replace("_", "-")
        yield _printed(STREAMS.get(agent) or STREAMS["codex"])
        yield from (path.read_bytes() for path in sorted(DATA.glob(f"transcripts/{agent}-[0-9]*/*/stdout.jsonl")))


def _recording(agent: str, events: list[dict[str, Any]]) -> bytes:
    return json.dumps(
        {"call": "r/1/plan/1", "command": ["x"], "stdin": {}, "stdout": _printed(events).decode(), "stderr": "",
         "exit": 0, "seconds": 1.0, "agent": agent}
    ).encode()  # fmt: skip


def _printed(events: list[dict[str, Any]]) -> bytes:
    return "".join(f"{json.dumps(event)}\n" for event in events).encode()
