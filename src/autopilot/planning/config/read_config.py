"""`.planning/config.json` to values, whatever shape it comes in."""

import difflib
import json
from collections.abc import Iterator, Mapping
from typing import Any

from autopilot.domain.errors import ConfigInvalid
from autopilot.domain.evidence import Severity
from autopilot.domain.settings import Commands, Honesty
from autopilot.domain.value import Value
from autopilot.planning.config import agents_section as agents
from autopilot.planning.config import visual_section as visual
from autopilot.planning.config.agents_section import AgentSection
from autopilot.planning.config.visual_section import VisualSection
from autopilot.planning.roadmap.phase_type import work_kind
from autopilot.policy.facts.tamper_rules import BY_NAME, WORDS

_WATCHED = frozenset({"held_out_share", "control_files", "kinds"})
_GUESSED = "Autopilot would have to guess which kinds of tampering may pass."
COMMANDS = ("compile", "lint", "test", "build")
_MODELS = {"quality": "opus", "balanced": "sonnet", "speed": "haiku"}
DEFAULT_MODEL = "sonnet"
SPEC_PATHS = (".planning/REQUIREMENTS.md", ".planning/PROJECT.md", ".planning/ROADMAP.md")
# Where a limit of ours is written in the file: section and key.
_LIMITS = {
    ("verification", "min_duration_seconds"): "min_verification_seconds",
    ("limits", "agent_seconds"): "agent_seconds",
    ("limits", "agent_turns"): "agent_turns",
    ("limits", "command_seconds"): "command_seconds",
    ("limits", "gate_seconds"): "gate_seconds",
    ("limits", "plan_checks"): "plan_checks",
    ("limits", "task_fixes"): "task_fixes",
    ("limits", "debug_attempts"): "debug_attempts",
    ("limits", "replans"): "replans",
    ("limits", "remediation_cycles"): "remediation_cycles",
    ("limits", "min_verification_seconds"): "min_verification_seconds",
    ("limits", "unanswered"): "unanswered",
    ("limits", "no_progress"): "no_progress",
    ("limits", "same_error"): "same_error",
    ("limits", "alternating_errors"): "alternating_errors",
    ("limits", "growing_diffs"): "growing_diffs",
    ("limits", "retries"): "retries",
    ("limits", "cooldown_seconds"): "cooldown_seconds",
    ("limits", "tokens_per_phase"): "tokens_per_phase",
    ("limits", "tokens_per_run"): "tokens_per_run",
    ("limits", "unpriced_tokens_per_phase"): "unpriced_tokens_per_phase",
    ("limits", "unpriced_tokens_per_run"): "unpriced_tokens_per_run",
    ("limits", "usd_per_phase"): "usd_per_phase",
    ("limits", "usd_per_run"): "usd_per_run",
    ("limits", "minutes_per_phase"): "minutes_per_phase",
    ("limits", "minutes_per_run"): "minutes_per_run",
    ("limits", "idle_seconds"): "idle_seconds",
    ("limits", "wait_margin_seconds"): "wait_margin_seconds",
    ("limits", "wait_minutes"): "wait_minutes",
    ("limits", "wait_most_minutes"): "wait_most_minutes",
    ("limits", "wait_hours"): "wait_hours",
    ("limits", "overload_seconds"): "overload_seconds",
    ("limits", "overload_most_seconds"): "overload_most_seconds",
    ("limits", "overload_tries"): "overload_tries",
    ("limits", "interruptions"): "interruptions",
    ("limits", "work_files"): "work_files",
    ("limits", "work_mebibytes"): "work_mebibytes",
    ("limits", "file_mebibytes"): "file_mebibytes",
    ("limits", "ignored_files"): "ignored_files",
    ("limits", "walk_seconds"): "walk_seconds",
}


class Config(Value, frozen=True, kw_only=True):
    """
    What the user configured.

    `given` names the commands the file sets, a null included: a null there turns the gate off. `commands_source` tells
    a value Autopilot once detected from one the user wrote. `version_bump` is None where CLAUDE.md decides.
    """

    commands: Commands = Commands()
    given: frozenset[str] = frozenset()
    commands_source: dict[str, str] = {}
    type: str | None = None
    manifest: str | None = None
    spec_paths: tuple[str, ...] = ()
    model: str = DEFAULT_MODEL
    model_profile: str | None = None
    agents: AgentSection = AgentSection()
    research: bool = True
    integration_check: bool = True
    self_audit: bool = True
    version_bump: bool | None = None
    keep_awake: bool = True
    wait: bool = True
    strict_clean_tree: bool = False
    limits: dict[str, float] = {}
    ui_source_dir: str | None = None
    visual: VisualSection = VisualSection()
    setup: str | None = None
    dependencies: tuple[str, ...] | None = None
    honesty: Honesty = Honesty()
    sign_receipts: bool = False
    resource_awareness: bool = True
    peer_abort: int | None = None
    notes: tuple[str, ...] = ()
    raw: dict[str, Any] = {}

    @property
    def spec_candidates(self) -> tuple[str, ...]:
        """INV-11, INV-12: where to look for the frozen specification, in order."""
        return self.spec_paths or SPEC_PATHS


def read(text: str | bytes | None, path: str) -> Config:
    """Unknown keys and foreign shapes are let be; only what is no JSON object at all is refused."""
    if text is None:
        return Config()
    data = _load(text, path)
    project, workflow = _section(data, "project"), _section(data, "workflow")
    commands = _section(project, "commands")
    wrong = tuple(_misshapen(data, project, commands))
    given = frozenset(name for name in COMMANDS if name in commands and _is_command(commands[name]))
    profile = data.get("model_profile")
    limits, notes = _limits(data)
    honesty, doubts = _honesty(data.get("honesty", {}), path)
    awareness, peer_abort, unread = _sessions(_section(data, "sessions"))
    looks = visual.read(project.get("visual_testing"))
    staff = agents.read(_section(data, "agents"))
    return Config(
        commands=Commands(**{name: _text(commands.get(name)) for name in COMMANDS}),
        given=given,
        commands_source={k: v for k, v in _section(project, "commands_source").items() if isinstance(v, str)},
        type=_text(project.get("type")),
        manifest=_text(project.get("manifest")),
        spec_paths=_texts(project.get("spec_paths")),
        model=_MODELS.get(profile, DEFAULT_MODEL) if isinstance(profile, str) else DEFAULT_MODEL,
        model_profile=_text(profile),
        agents=staff,
        research=_flag(workflow.get("research", data.get("research")), default=True),
        integration_check=_flag(workflow.get("integration_check"), default=True),
        self_audit=_flag(workflow.get("self_audit"), default=True),
        version_bump=bump if isinstance(bump := workflow.get("version_bump"), bool) else None,
        keep_awake=_flag(workflow.get("keep_awake"), default=True),
        wait=_flag(workflow.get("wait"), default=True),
        strict_clean_tree=_flag(data.get("strict_clean_tree", workflow.get("strict_clean_tree")), default=False),
        limits=limits,
        ui_source_dir=_text(_section(project, "ui").get("source_dir")),
        visual=looks,
        setup=_text(_section(data, "workspace").get("setup")),
        dependencies=_dependencies(_section(data, "workspace")),
        honesty=honesty,
        sign_receipts=_flag(_section(data, "receipts").get("sign"), default=False),
        resource_awareness=awareness,
        peer_abort=peer_abort,
        notes=(*wrong, *notes, *doubts, *unread, *staff.notes, *looks.notes),
        raw=data,
    )


def _load(text: str | bytes, path: str) -> dict[str, Any]:
    why = "Autopilot would have to guess the project's commands and limits."
    try:
        decoded = text.decode("utf-8-sig") if isinstance(text, bytes) else text.removeprefix("\ufeff")
        data = json.loads(decoded, parse_constant=_refuse)
        json.dumps(data, ensure_ascii=False).encode()  # half a surrogate pair could be neither stored nor run
    except json.JSONDecodeError as error:
        what = f"{path} is not valid JSON: {error.msg} at line {error.lineno}, column {error.colno}."
        raise ConfigInvalid(what, why=why, do=f"Correct line {error.lineno} of {path}.") from error
    except (ValueError, RecursionError) as error:
        what = f"{path} is not valid JSON: {error}."
        raise ConfigInvalid(what, why=why, do=f"Save {path} as UTF-8 JSON.") from error
    if not isinstance(data, dict):
        what = f"{path} holds a {type(data).__name__} where an object belongs (line 1, column 1)."
        raise ConfigInvalid(what, why=why, do='Write settings as {"project": {"commands": {"test": "..."}}}.')
    return data


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is not a JSON number")


def _limits(data: Mapping[str, Any]) -> tuple[dict[str, float], tuple[str, ...]]:
    """Limits the file sets. One that is no positive number is told and left at its default."""
    limits: dict[str, float] = {}
    notes: list[str] = []
    for (section, key), name in _LIMITS.items():
        value = _section(data, section).get(key)
        if value is None:
            continue
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < 10**9:
            notes.append(f"{section}.{key} is {value!r}, not a number of 0 or more: the default is used")
        else:
            limits[name] = value
    return limits, tuple(notes)


def _sessions(section: Mapping[str, Any]) -> tuple[bool, int | None, tuple[str, ...]]:
    """Whether the loop looks at the machine, and above how many other sessions it stops on a strained one."""
    awareness, most = section.get("resource-awareness", True), section.get("autopilot-peer-abort")
    notes: list[str] = []
    if not isinstance(awareness, bool):
        notes.append(f"sessions.resource-awareness is {awareness!r}, neither true nor false: the default is used")
        awareness = True
    if most is not None and (isinstance(most, bool) or not isinstance(most, int) or most < 0):
        notes.append(f"sessions.autopilot-peer-abort is {most!r}, not a whole number of 0 or more: the default is used")
        most = None
    return awareness, most, tuple(notes)


def _honesty(section: Any, path: str) -> tuple[Honesty, tuple[str, ...]]:
    """A share outside 0 to 1 is told and left at its default, as is a kind nobody knows; a wrong rule is refused."""
    if not isinstance(section, dict):
        raise ConfigInvalid(
            f"honesty in {path} holds {section!r} where an object belongs.",
            why=_GUESSED,
            do=f'Write it as {{"honesty": {{"test-skipped": "concern"}}}}, each value one of {", ".join(WORDS)}.',
        )
    share, notes = section.get("held_out_share", Honesty().held_out_share), []
    if isinstance(share, bool) or not isinstance(share, int | float) or not 0 <= share <= 1:
        notes.append(f"honesty.held_out_share is {share!r}, not a number from 0 to 1: the default is used")
        share = Honesty().held_out_share
    kinds = {}
    for phase, said in _section(section, "kinds").items():
        kinds[phase] = work_kind(said) if isinstance(said, str) else "feature"
        if kinds[phase] == "feature" and said != "feature":
            notes.append(f"honesty.kinds.{phase} is {said!r}, neither refactor nor docs: it counts as a feature")
    rules = {name: value for name, value in section.items() if name not in _WATCHED}
    control = _texts(section.get("control_files"))
    weights = _weights(rules, path)
    return Honesty(held_out_share=float(share), control_files=control, kinds=kinds, rules=weights), tuple(notes)


def _weights(rules: Mapping[str, Any], path: str) -> dict[str, Severity]:
    """How severe each tamper rule is to be. A slip here would quietly change what may pass, so it is refused."""
    for rule, word in rules.items():
        if rule not in BY_NAME:
            near = difflib.get_close_matches(rule, BY_NAME, n=1)
            hint = f" Did you mean {near[0]}?" if near else ""
            do = f"Use a rule of docs/tampering.md.{hint}"
            raise ConfigInvalid(f"honesty in {path} names {rule!r}, which is no rule.", why=_GUESSED, do=do)
        if not isinstance(word, str) or word not in WORDS:
            what = f"honesty.{rule} in {path} is {word!r}, which is none of {', '.join(WORDS)}."
            raise ConfigInvalid(what, why=_GUESSED, do="Write one of these words. A rule cannot be switched off.")
    return {rule: WORDS[word] for rule, word in rules.items()}


def _dependencies(workspace: Mapping[str, Any]) -> tuple[str, ...] | None:
    """None when the file does not say; a null there means none."""
    return _texts(workspace["dependencies"] or []) if "dependencies" in workspace else None


def _section(data: Mapping[str, Any], key: str) -> dict[str, Any]:
    """AMB-47: a section that is no object counts as absent."""
    value = data.get(key)
    return value if isinstance(value, dict) else {}


def _is_command(value: Any) -> bool:
    return value is None or isinstance(value, str)


def _misshapen(data: Mapping[str, Any], project: Mapping[str, Any], commands: Mapping[str, Any]) -> Iterator[str]:
    """Commands that cannot be read: their gates must not be off without a word."""
    if "project" in data and not isinstance(data["project"], dict):
        yield "project is not an object and is ignored: the commands are detected"
    if "commands" in project and not isinstance(project["commands"], dict):
        yield "project.commands is not an object and is ignored: the commands are detected"
    for name in COMMANDS:
        if not _is_command(commands.get(name)):
            yield f"project.commands.{name} is not a text and is ignored: the command is detected"


def _text(value: Any) -> str | None:
    return value.strip() if isinstance(value, str) and value.strip() else None


def _texts(value: Any) -> tuple[str, ...]:
    if isinstance(value, str):
        value = [value]
    return tuple(item for item in value if isinstance(item, str) and item) if isinstance(value, list) else ()


def _flag(value: Any, *, default: bool) -> bool:
    return value if isinstance(value, bool) else default
