"""What a repository asks for: its hashes, what is still to be agreed to, and the table that shows it."""

from hypothesis import assume, given
from hypothesis import strategies as st
from msgspec.structs import replace

from autopilot.authority.surface import Part, Surface, agreed, missing, table
from autopilot.text.clean import ACTED_UPON

WORDS = st.text(st.characters(codec="utf-8"), min_size=1, max_size=40)
FILES = st.dictionaries(WORDS, WORDS, max_size=3)
PARTS = st.builds(
    Part, name=WORDS, kind=st.sampled_from(["setup", "gate", "launch", "settings", "folder"]), text=WORDS, where=WORDS,
    files=FILES,
)  # fmt: skip
SURFACES = st.lists(PARTS, max_size=5, unique_by=lambda part: part.name).map(lambda ps: Surface(parts=tuple(ps)))
SETUP = Part(name="setup", kind="setup", text="npm ci", where=".planning/config.json:4")


def roadmap(commands: int) -> Surface:
    return Surface(parts=(Part(name="roadmap", kind="roadmap", text=str(commands), where="ROADMAP.md"),))


@given(SURFACES)
def test_what_was_agreed_to_is_not_asked_again(surface: Surface) -> None:
    assert missing(surface, agreed(surface)) == ()


@given(SURFACES)
def test_the_hash_knows_no_order_and_no_place(surface: Surface) -> None:
    turned = Surface(parts=tuple(replace(part, where="elsewhere") for part in reversed(surface.parts)))

    assert turned.sha256 == surface.sha256
    assert missing(turned, agreed(surface)) == ()


@given(SURFACES, PARTS)
def test_whatever_is_new_or_other_is_asked_and_changes_the_hash(surface: Surface, part: Part) -> None:
    assume(part.sha256 not in {known.sha256 for known in surface.parts})
    others = tuple(known for known in surface.parts if known.name != part.name)
    changed = Surface(parts=(*others, part))

    (change,) = missing(changed, agreed(surface))
    assert change.part == part
    assert changed.sha256 != surface.sha256


@given(SURFACES, st.integers(0, 4))
def test_what_is_gone_is_not_asked(surface: Surface, at: int) -> None:
    fewer = Surface(parts=surface.parts[:at])

    assert missing(fewer, agreed(surface)) == ()
    assert (fewer.sha256 == surface.sha256) is (fewer.parts == surface.parts)


@given(SURFACES, PARTS, FILES)
def test_a_script_that_changed_is_asked_though_its_command_did_not(
    surface: Surface, part: Part, files: dict[str, str]
) -> None:
    assume(files != part.files)
    others = tuple(known for known in surface.parts if known.name != part.name)
    before = Surface(parts=(*others, part))

    (change,) = missing(Surface(parts=(*others, replace(part, files=files))), agreed(before))
    assert change.before is not None
    assert change.before.files == part.files


def test_more_commands_in_the_roadmap_are_asked_and_fewer_are_not() -> None:
    assert missing(roadmap(2), agreed(roadmap(3))) == ()
    (change,) = missing(roadmap(4), agreed(roadmap(3)))
    assert "\n".join(table((change,))) == (
        "  roadmap  - 3 commands\n"
        "           + 4 commands\n"
        "           ROADMAP.md: runs sealed: no network, no home, in a copy"
    )


@given(st.text(st.characters(codec="utf-8", exclude_characters="\n"), max_size=300))
def test_the_table_hides_no_letter_of_a_command(text: str) -> None:
    (change,) = missing(Surface(parts=(replace(SETUP, text=text),)), {})
    *shown, _ = (line[9:] for line in table((change,)))
    written = "".join(f"\\u{ord(letter):04x}" if letter in ACTED_UPON else letter for letter in text)

    assert "".join(shown) == written
    assert not ACTED_UPON & {letter for line in shown for letter in line}


def test_a_command_too_long_for_the_screen_says_so() -> None:
    (change,) = missing(Surface(parts=(replace(SETUP, text="x" * 5000),)), {})

    assert "... and 3000 characters more" in "\n".join(table((change,))).replace("\n         ", "")


def test_only_the_difference_is_shown() -> None:
    gate = Part(name="test", kind="gate", text="pytest", where="pyproject.toml")
    before = Surface(parts=(replace(SETUP, files={"go.sh": "1"}), gate))
    after = Surface(parts=(replace(SETUP, text="npm ci; ./go.sh", files={"go.sh": "2", "new.sh": "1"}), gate))

    assert list(table(missing(after, agreed(before)))) == [
        "  setup  - npm ci",
        "         + npm ci; ./go.sh",
        "         go.sh changed",
        "         new.sh is new",
        "         .planning/config.json:4: runs with registries as its only network, without your home, in a copy",
    ]


@given(SURFACES)
def test_who_agreed_in_a_sandbox_did_not_agree_without_one(surface: Surface) -> None:
    free = replace(surface, unconfined=True)
    running = {part.name for part in surface.parts if part.kind in {"setup", "gate", "launch"}}

    assert {change.part.name for change in missing(free, agreed(surface))} == running
    assert missing(surface, agreed(free)) == missing(free, agreed(free)) == ()
    assert free.sha256 != surface.sha256


@given(SURFACES, SURFACES)
def test_a_later_yes_in_a_sandbox_frees_nothing_new_and_takes_nothing_back(before: Surface, after: Surface) -> None:
    known = agreed(replace(before, unconfined=True))
    now = agreed(after, known)

    assert {name for name, part in now.items() if part.unconfined} == {
        part.name for part in after.parts if part in before.parts or part.sha256 in {p.sha256 for p in before.parts}
    }


def test_without_a_sandbox_the_table_says_so() -> None:
    (change,) = missing(Surface(parts=(SETUP,)), {})

    assert list(table((change,), unconfined=True))[-1].endswith("runs WITHOUT A SANDBOX: it can do all that you can")
