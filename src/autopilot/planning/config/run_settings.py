"""A run's settings: what was asked on the command line, over what the project configures."""

from collections.abc import Mapping

import msgspec

from autopilot.domain.request import RunRequest
from autopilot.domain.rework import QUALITY, refines
from autopilot.domain.settings import MINUTES, Limits, Network, RunCaps, Settings, capped
from autopilot.planning.config import detect_commands as detect
from autopilot.planning.config import visual_section as visual
from autopilot.planning.start.read_project import Project

LENIENT, STRICT = 7.0, 9.0


def detected_names(project: Project) -> tuple[str, ...]:
    """The commands that come from the project's manifest; the others are the user's word."""
    sources = detect.sources(project.config, project.detected)
    return tuple(name for name, source in sources.items() if source == "auto-detected")


def settings_of(request: RunRequest, project: Project) -> Settings:
    config = project.config
    return Settings(
        agent=request.agent,
        reviewer=request.reviewer,
        model=request.model or config.model,
        models={} if request.model else config.agents.models,
        lenient=request.lenient,
        pass_threshold=threshold(request),
        research=config.research,
        commands=project.commands,
        detected=detected_names(project),
        limits=limits_of(config.limits, request.caps),
        sandbox=request.sandbox or "auto",
        honesty=config.honesty,
        visual=visual.chosen(config.visual, asked=request.visual),
        sign_receipts=config.sign_receipts,
        dependencies=detect.dependencies(config, project.detected),
        setup=config.setup,
        integration_check=config.integration_check,
        self_audit=config.self_audit,
        version_bump=project.versioned if config.version_bump is None else config.version_bump,
        modes=request.modes,
        keep_awake=request.keep_awake and config.keep_awake,
        wait=config.wait if request.wait is None else request.wait,
        failover=request.failover or config.agents.failover,
        backends=config.agents.backends,
        network=Network(open=request.open_network, asked=request.hosts),
    )


def threshold(request: RunRequest) -> float:
    """CENF-01, QUAL-00: a flag that refines has its own bar, whatever else is asked for."""
    if refines(request.modes):
        return QUALITY
    return LENIENT if request.lenient else STRICT


def limits_of(configured: Mapping[str, float], caps: RunCaps) -> Limits:
    """Where the config sets a cap for the run and none for a phase, the phase's share goes by it."""
    usual = Limits()
    known = {name: _kind(usual, name)(value) for name, value in configured.items() if hasattr(usual, name)}
    hours = known["minutes_per_run"] / MINUTES if "minutes_per_run" in known else None
    tokens = int(known["tokens_per_run"]) if "tokens_per_run" in known else None
    limits = capped(usual, RunCaps(usd=known.get("usd_per_run"), tokens=tokens, hours=hours))
    return capped(msgspec.structs.replace(limits, **known), caps)


def _kind(usual: Limits, name: str) -> type[float]:
    """Whole numbers stay whole. A cap that is off by default counts tokens, which are whole."""
    return float if isinstance(getattr(usual, name), float) else int
