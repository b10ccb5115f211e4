"""A run's settings: what was asked on the command line, over what the project configures."""

from autopilot.domain.request import RunRequest
from autopilot.domain.settings import Limits, Settings
from autopilot.planning import visual
from autopilot.planning.whole import Project

LENIENT, STRICT = 7.0, 9.0


def settings_of(request: RunRequest, project: Project) -> Settings:
    config = project.config
    known = {
        name: type(getattr(Limits(), name))(value) for name, value in config.limits.items() if hasattr(Limits(), name)
    }
    return Settings(
        agent=request.agent,
        reviewer=request.reviewer,
        model=request.model or config.model,
        lenient=request.lenient,
        pass_threshold=LENIENT if request.lenient else STRICT,
        research=config.research,
        commands=project.commands,
        limits=Limits(**known),
        sandbox=request.sandbox or "auto",
        honesty=config.honesty,
        visual=visual.chosen(config.visual, asked=request.visual),
        sign_receipts=config.sign_receipts,
        integration_check=config.integration_check,
        self_audit=config.self_audit,
        version_bump=project.versioned if config.version_bump is None else config.version_bump,
    )
