"""What points each agent program at a service of this machine: variables, files below its home, and a model's name."""

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from support.fake_models.script import Tool, Turn

SAID = Turn(text='All done. {"done": true}', input_tokens=2000, output_tokens=77)
CODEX = """
model = "gpt-5.5"
model_provider = "here"
[model_providers.here]
name = "here"
base_url = "{url}/v1"
wire_api = "responses"
env_key = "OPENAI_API_KEY"
request_max_retries = 1
stream_max_retries = 1
stream_idle_timeout_ms = 60000
"""


@dataclass(frozen=True)
class SetUp:
    """
    `tool` runs commands, each of them under `word`, and wants `more` beside it; `answer` is how the program's model ends its turn.

    `carry` are files that point the program at the service, and must be in its home. `asks` are hosts besides that it
    tries and does without; `asks_npm` says whether npm's own registry is one.
    """

    tool: str
    variables: Callable[[str], dict[str, str]]
    files: Callable[[str], dict[str, Any]] = lambda _: {}
    more: dict[str, Any] = field(default_factory=dict)
    model: str | None = None
    answer: Turn = SAID
    carry: tuple[str, ...] = ()
    word: str = "command"
    asks: tuple[str, ...] = ()
    asks_npm: bool = False

    def running(self, command: str) -> Tool:
        """The call of its tool that runs a command."""
        return Tool(name=self.tool, input={self.word: command, **self.more})

    def furnish(self, home: Path, url: str) -> dict[str, str]:
        """Put the program's files into a home; the variables it needs besides."""
        for path, content in self.files(url).items():
            (home / path).parent.mkdir(parents=True, exist_ok=True)
            (home / path).write_text(content if isinstance(content, str) else json.dumps(content))
        return self.variables(url)


SET_UPS = {
    "claude": SetUp(
        "Bash",
        lambda url: {
            "ANTHROPIC_BASE_URL": url,
            "ANTHROPIC_API_KEY": "sk-no-real-key",
            "CLAUDE_CODE_MAX_RETRIES": "1",
        },
        more={"description": "make"},
        answer=Turn(tools=(Tool(name="StructuredOutput", input={"done": True}),)),
    ),
    "codex": SetUp(
        "exec_command",
        lambda _: {"OPENAI_API_KEY": "sk-no-real-key"},
        lambda url: {".codex/config.toml": CODEX.format(url=url)},
        carry=("config.toml",),
        word="cmd",
        asks=("api.github.com", "chatgpt.com", "github.com"),
    ),
    "gemini": SetUp(
        "run_shell_command",
        lambda url: {"GEMINI_API_KEY": "no-key", "GOOGLE_GEMINI_BASE_URL": url},
        model="gemini-2.5-pro",
    ),
    "qwen": SetUp(
        "run_shell_command",
        lambda url: {"OPENAI_API_KEY": "no-key", "OPENAI_BASE_URL": f"{url}/v1", "OPENAI_MODEL": "fake-model"},
        more={"is_background": False},
        model="fake-model",
        answer=Turn(tools=(Tool(name="structured_output", input={"done": True}),)),
    ),
    "opencode": SetUp(
        "bash",
        lambda url: {
            "OPENCODE_DISABLE_MODELS_FETCH": "true",
            "OPENCODE_CONFIG_CONTENT": json.dumps(
                {
                    "provider": {
                        "fake": {
                            "npm": "@ai-sdk/openai-compatible",
                            "options": {"baseURL": f"{url}/v1", "apiKey": "no-key"},
                            "models": {"fake-model": {"name": "fake"}},
                        }
                    }
                }
            ),
        },
        more={"description": "make"},
        model="fake/fake-model",
        asks_npm=True,
    ),
    "goose": SetUp(
        "shell",
        lambda url: {
            "OPENAI_API_KEY": "no-key",
            "GOOSE_PROVIDER": "openai",
            "GOOSE_MODEL": "fake-model",
            "OPENAI_HOST": url,
            "OPENAI_BASE_PATH": "v1/chat/completions",
        },
    ),
    "copilot": SetUp(
        "bash",
        lambda url: {
            "COPILOT_PROVIDER_BASE_URL": f"{url}/v1",
            "COPILOT_PROVIDER_TYPE": "openai",
            "COPILOT_PROVIDER_API_KEY": "no-key",
            "COPILOT_MODEL": "fake-model",
            "COPILOT_OFFLINE": "true",
        },
        more={"description": "make", "mode": "sync", "initial_wait": 10},
    ),
    "pi": SetUp(
        "bash",
        lambda _: {},
        lambda url: {
            ".pi/agent/models.json": {
                "providers": {
                    "fake": {
                        "baseUrl": f"{url}/v1",
                        "api": "openai-completions",
                        "apiKey": "no-key",
                        "models": [{"id": "fake-model", "name": "fake", "contextWindow": 100000, "maxTokens": 4000}],
                    }
                }
            }
        },
        model="fake/fake-model",
        carry=("models.json",),
    ),
}
