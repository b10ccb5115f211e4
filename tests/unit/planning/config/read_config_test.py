"""config.json in every shape it was seen in, and the commands found in manifests."""

import json

import pytest

from autopilot.domain.errors import ConfigInvalid
from autopilot.domain.settings import Commands, Honesty
from autopilot.planning.config import detect_commands as detect
from autopilot.planning.config import read_config as config
from autopilot.planning.config.read_config import Config


def read(**values: object) -> Config:
    return config.read(json.dumps(values), "config.json")


def test_no_file_means_the_defaults() -> None:
    assert config.read(None, "config.json") == Config()


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ('{\n "a": 1,\n}', "line 3, column 1"),
        ("", "line 1, column 1"),
        ("[]", "line 1, column 1"),
        ("{'a': 1}", "line 1, column 2"),
    ],
)
def test_broken_json_is_refused_with_its_place(text: str, place: str) -> None:
    with pytest.raises(ConfigInvalid, match=place) as caught:
        config.read(text, "config.json")

    assert "config.json" in caught.value.what


@pytest.mark.parametrize("text", [b"\xff\xfe{}", '{"a": NaN}', "[" * 100_000, '{"a": 1' + "0" * 5000 + "}"])
def test_anything_else_that_is_no_json_is_refused(text: str | bytes) -> None:
    with pytest.raises(ConfigInvalid):
        config.read(text, "config.json")


@pytest.mark.parametrize(
    "foreign",
    [
        {"project": "AutoFiller"},
        {"project": {"commands": "npm"}},
        {"workflow": []},
        {"limits": 3},
        {"parallelization": True},
        {"hooks": {"a": [1]}},
    ],
)
def test_foreign_shapes_count_as_absent(foreign: dict[str, object]) -> None:
    read_config = read(**foreign)

    assert (read_config.commands, read_config.research, read_config.raw) == (Commands(), True, foreign)


@pytest.mark.parametrize(
    ("profile", "model"),
    [("quality", "opus"), ("balanced", "sonnet"), ("speed", "haiku"), ("inherit", "sonnet"), (7, "sonnet")],
)
def test_the_model_follows_the_profile(profile: object, model: str) -> None:
    assert read(model_profile=profile).model == model


def test_a_role_may_have_a_model_of_its_own() -> None:
    config = read(agents={"models": {"judge": "quality", "jugde": "opus", "rate": 7}})

    assert config.agents.models == {"judge": "quality"}
    assert [note.split()[0] for note in config.notes] == ["agents.models.jugde", "agents.models.rate"]


def test_research_may_stand_flat_or_in_workflow() -> None:
    assert not read(research=False).research
    assert not read(workflow={"research": False}).research


def test_limits_are_taken_and_nonsense_is_told() -> None:
    read_config = read(verification={"min_duration_seconds": 5}, limits={"replans": "many", "debug_attempts": 1})

    assert read_config.limits == {"min_verification_seconds": 5, "debug_attempts": 1}
    assert "limits.replans" in read_config.notes[0]


def test_the_specification_is_looked_for_in_order() -> None:
    assert read(project={"spec_paths": ["SPEC.md"]}).spec_candidates == ("SPEC.md",)
    assert read().spec_candidates[0] == ".planning/REQUIREMENTS.md"


NODE = {
    "scripts": {"test": "vitest", "lint": "eslint .", "build": "vite build"},
    "devDependencies": {"typescript": "5"},
}
PYTHON = '[build-system]\nrequires = []\n[project]\ndependencies = ["flake8>=3"]\n[project.optional-dependencies]\ndev = ["pytest>=8"]\n'


@pytest.mark.parametrize(
    ("files", "wanted"),
    [
        ({"package.json": json.dumps(NODE)}, Commands(compile="npx tsc --noEmit", test="npm test", lint="npm run lint", build="npm run build")),
        ({"package.json": json.dumps(NODE), "pnpm-lock.yaml": ""}, Commands(compile="pnpm exec tsc --noEmit", test="pnpm test", lint="pnpm run lint", build="pnpm run build")),
        ({"package.json": json.dumps(NODE), "bun.lockb": ""}, Commands(compile="bunx tsc --noEmit", test="bun run test", lint="bun run lint", build="bun run build")),
        ({"package.json": '{"scripts": {"typecheck": "tsc", "test": "echo \\"Error: no test specified\\" && exit 1"}}', "yarn.lock": ""}, Commands(compile="yarn run typecheck")),
        ({"package.json": "{broken"}, Commands()),
        ({"pyproject.toml": PYTHON}, Commands(test="pytest", lint="flake8", build="python -m build")),
        ({"pyproject.toml": "[tool.ruff]\n[tool.mypy]\n", "uv.lock": ""}, Commands(compile="uv run mypy .", test="uv run python -m unittest discover", lint="uv run ruff check .")),
        ({"pyproject.toml": '[tool.poetry.group.dev.dependencies]\npytest = "*"\nruff = "*"\n'}, Commands(test="poetry run pytest", lint="poetry run ruff check .")),
        ({"pyproject.toml": "not toml ["}, Commands(test="python -m unittest discover")),
        ({"Cargo.toml": ""}, Commands(compile="cargo check", test="cargo test", lint="cargo clippy", build="cargo build")),
        ({"go.mod": "module x"}, Commands(compile="go build ./...", test="go test ./...", lint="go vet ./...", build="go build ./...")),
        ({"pom.xml": "<project/>", "mvnw": ""}, Commands(compile="./mvnw -q -B compile", test="./mvnw -q -B test", build="./mvnw -q -B package -DskipTests")),
        ({"build.gradle.kts": 'id("ktlint")', "gradlew": ""}, Commands(compile="./gradlew classes", test="./gradlew test", lint="./gradlew ktlintCheck", build="./gradlew assemble")),
        ({"Makefile": "VAR := x\n.PHONY: test\ncheck test: dep\n\tx\nall::\n"}, Commands(compile="make check", test="make test", build="make all")),
        ({"package.json": "{}", "Makefile": "test:\n"}, Commands()),
        ({}, Commands()),
    ],
)  # fmt: skip
def test_commands_are_found_in_the_first_manifest(files: dict[str, str], wanted: Commands) -> None:
    assert detect.detect(files).commands == wanted


def test_no_manifest_is_told() -> None:
    assert "No project manifest found" in detect.detect({}).notes[0]


@pytest.mark.parametrize(
    ("project", "test", "source"),
    [
        ({}, "make test", "auto-detected"),
        ({"commands": {"test": "mine"}}, "mine", "user-override"),
        ({"commands": {"test": None}}, None, "user-override"),
        (
            {"commands": {"test": "make test"}, "commands_source": {"test": "auto-detected"}},
            "make test",
            "auto-detected",
        ),
        ({"commands": {"test": "edited"}, "commands_source": {"test": "auto-detected"}}, "edited", "user-override"),
        ({"commands": {"test": None}, "commands_source": {"test": "auto-detected"}}, None, "user-override"),
    ],
)
def test_the_users_word_wins_even_a_null(project: dict[str, object], test: str | None, source: str) -> None:
    read_config = read(project=project)

    found = detect.detect({"Makefile": "test:\n"})
    assert detect.merge(read_config, found).test == test
    assert detect.sources(read_config, found)["test"] == source


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("{}", ("node_modules", ".venv", "venv", "vendor/bundle")),
        ('{"workspace": {"dependencies": ["deps"]}}', ("deps",)),
        ('{"workspace": {"dependencies": []}}', ()),
        ('{"workspace": {"dependencies": null}}', ()),
    ],
)
def test_the_users_dependency_folders_win_over_the_detected_ones(text: str, expected: tuple[str, ...]) -> None:
    detected = detect.detect({"package.json": "{}"})

    assert detect.dependencies(config.read(text, "config.json"), detected) == expected


def test_how_closely_the_work_is_watched_can_be_set_and_nonsense_is_told() -> None:
    given = {"held_out_share": 0.5, "control_files": ["conftest.py", "ci/*"], "kinds": {"3": "refactor", "4": "fun"}}
    made = read(honesty=given)

    assert made.honesty == Honesty(
        held_out_share=0.5, control_files=("conftest.py", "ci/*"), kinds={"3": "refactor", "4": "feature"}
    )
    assert made.notes == ("honesty.kinds.4 is 'fun', neither refactor nor docs: it counts as a feature",)


@pytest.mark.parametrize("share", [2, -0.1, True, "much"])
def test_a_share_that_is_none_is_told_and_the_default_used(share: object) -> None:
    made = read(honesty={"held_out_share": share})

    assert (made.honesty, len(made.notes)) == (Honesty(), 1)


@pytest.mark.parametrize(
    ("text", "sign"),
    [('{"receipts": {"sign": true}}', True), ('{"receipts": {"sign": "yes"}}', False), ('{"receipts": null}', False)],
    ids=["given", "another shape", "no section"],
)
def test_whether_receipts_are_signed(text: str, sign: bool) -> None:
    assert config.read(text, "config.json").sign_receipts == sign


@pytest.mark.parametrize(
    ("data", "said"),
    [
        ({"project": 5}, "project is not an object"),
        ({"project": {"commands": ["pytest"]}}, "project.commands is not an object"),
        ({"project": {"commands": {"test": ["pytest"]}}}, "project.commands.test is not a text"),
    ],
)
def test_a_command_that_cannot_be_read_is_named_and_its_gate_is_not_off(data: dict[str, object], said: str) -> None:
    found = config.read(json.dumps(data), "config.json")

    assert any(note.startswith(said) for note in found.notes)
    assert detect.merge(found, detect.detect({"Makefile": "test:\n"})).test == "make test"


@pytest.mark.parametrize("command", ["exec:sh evil.sh", "acp:./evil", "scripted:evil.toml", "replay:run-1", "auto"])
def test_a_repository_names_no_command_as_an_agent(command: str) -> None:
    agents = read(agents={"failover": ["codex", command], "roles": {"execute": [command, "gemini"]}}).agents

    assert (agents.failover, agents.backends) == (("codex",), {"execute": ("gemini",)})
    assert sum("only your own config.toml" in note for note in agents.notes) == 2
