"""GitHub Copilot CLI: `copilot --output-format json`. It tells no tokens."""

from collections.abc import Iterator
from typing import Any

from autopilot.agents.backend import Ask, Backend, Capabilities, Reach, SignIn, told
from autopilot.agents.json_fields import count, record, text
from autopilot.agents.outcomes import Meanings
from autopilot.agents.stream_events import Began, Failed, Finished, Noticed, Returned, Said, StreamEvent, Used

PROVIDER = "api.openai.com"

ACCESS = {
    "read": ("--allow-all-tools", "--deny-tool", "write", "--deny-tool", "shell"),
    "run": ("--allow-all-tools", "--deny-tool", "write"),
    "write": ("--allow-all-tools",),
}


def argv(ask: Ask) -> tuple[str, ...]:
    words = [ask.program, "--output-format", "json", *ACCESS[ask.access], "--allow-all-paths", "--no-ask-user"]
    words += ["--no-auto-update", "--disable-builtin-mcps"]
    words += ["--model", ask.model] if ask.model else []
    words += ["--resume", ask.thread] if ask.thread else []
    return tuple(words)


def parse(event: dict[str, Any]) -> Iterator[StreamEvent]:
    details = record(event.get("data"))
    match event.get("type"):
        case "assistant.message" if details.get("content"):
            yield Said(text=text(details.get("content")))
        case "tool.execution_start":
            name, given = text(details.get("toolName")), record(details.get("arguments"))
            command = text(given.get("command")) if name == "bash" else None
            yield Used(call=text(details.get("toolCallId")), what=told(name, given), command=command or None)
        case "tool.execution_complete":
            yield Returned(call=text(details.get("toolCallId")), ran=details.get("success") is True)
        case "model.call_failure":
            yield Noticed(text=f"trying again after error {details.get('statusCode')}")
        case "session.error":
            yield Failed(
                text=text(details.get("message")),
                status=count(details.get("statusCode")),
                kind=text(details.get("errorType")),
            )
        case "result":
            yield Began(session=text(event.get("sessionId")))
            yield Finished()


BACKEND = Backend(
    name="copilot",
    vendor="github",
    tested="1.0.102",
    own_prompt=12_000,
    program="copilot",
    sign_in=SignIn(
        variables=("COPILOT_GITHUB_TOKEN", "GH_TOKEN", "GITHUB_TOKEN", "COPILOT_PROVIDER_API_KEY"),
        files=(".copilot/config.json",),
        instead=("COPILOT_GITHUB_TOKEN", "GH_TOKEN", "GITHUB_TOKEN", "COPILOT_PROVIDER_API_KEY"),
    ),
    capabilities=Capabilities(resume=True, read_only=True, observes=True),
    argv=argv,
    reader=lambda: parse,
    meanings=Meanings(
        kinds={
            "authentication": "auth",
            "authorization": "auth",
            "quota": "usage_limited",
            "context_limit": "context_exhausted",
        }
    ),
    variables=(
        "COPILOT_PROVIDER_BASE_URL",
        "COPILOT_PROVIDER_TYPE",
        "COPILOT_PROVIDER_WIRE_API",
        "COPILOT_MODEL",
        "COPILOT_OFFLINE",
        "GH_HOST",
    ),
    folder=".copilot",
    folder_variable="COPILOT_HOME",
    # Its token is not renewed. The same file names plugins and folders it trusts.
    credentials=(".copilot/config.json",),
    withheld=("installed_plugins", "installedPlugins", "trusted_folders", "trustedFolders"),
    reach=Reach(
        keys={"COPILOT_PROVIDER_API_KEY": (PROVIDER,)},
        account=("api.github.com", "*.githubcopilot.com"),
        bases={"COPILOT_PROVIDER_BASE_URL": PROVIDER},
    ),
)
