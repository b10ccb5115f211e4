"""What people said reaches those who research and plan, in the order of its weight."""

import msgspec

from autopilot.domain.answers import ResearchClaim
from autopilot.domain.results import Researched
from autopilot.domain.user_answers import UserAnswer, UserContext
from autopilot.history.record import PhaseRecord
from autopilot.steps import judge, plan, rate, research, verify
from autopilot.steps.artifacts.user_context import with_sections
from support.records import DIR, Story, brief, whole

COLOUR = UserAnswer(question="Which colour?", answer="blue", area="Paper")
MAPPED = (UserAnswer(question="Which colour?", answer="red"), UserAnswer(question="How long?", answer="a page"))
WHOLE = UserContext(file=f"{DIR}/CONTEXT.md", text="# Mine\n\nNo ink.\n", discussed=(COLOUR,), mapped=MAPPED)


def record(context: UserContext | None) -> PhaseRecord:
    return Story(brief(context=context)).record


def test_disc_10_a_discussed_phase_is_told_to_go_by_its_decisions() -> None:
    for text in (research.prompt(record(WHOLE)), plan.prompt(record(WHOLE))):
        assert (
            f"**Discussion context:** The user spoke about this phase before the run. Read `{DIR}/CONTEXT.md` first"
            in text
        )
        assert "counts before any assumption of yours" in text


def test_disc_12_the_file_comes_first_then_the_discussion_then_the_map() -> None:
    text = research.prompt(record(WHOLE))

    places = [text.index(part) for part in ("CONTEXT.md", "Which colour? -> blue", "How long? -> a page")]
    assert places == sorted(places)
    assert "-> red" not in text


def test_cmap_04_what_mapping_asked_alone_is_told_too() -> None:
    text = research.prompt(record(UserContext(mapped=MAPPED)))

    assert "- Which colour? -> red" in text
    assert "Discussion context" not in text


def test_disc_13_a_planner_is_told_what_to_make_of_it() -> None:
    assert "Make criteria as specific as the user was" in plan.prompt(record(WHOLE))
    assert plan.prompt(record(None)) == plan.prompt(record(UserContext()))


def test_who_judges_is_told_nothing_of_it() -> None:
    told = msgspec.structs.replace(whole(), brief=msgspec.structs.replace(whole().brief, context=WHOLE))

    assert [prompt(told) for prompt in (verify.prompt, judge.prompt, rate.prompt)] == [
        prompt(whole()) for prompt in (verify.prompt, judge.prompt, rate.prompt)
    ]


def test_cmap_04_research_md_has_what_the_user_said_in_sections_of_its_own() -> None:
    """DISC-12: the discussion under its own heading, before what mapping asked."""
    found = Researched(claim=ResearchClaim(key_findings=("a",)), text="# Found\n\nall\n")
    text = research.artifacts(Story(brief(context=WHOLE)).step("research", found).record)["RESEARCH.md"]

    assert text.startswith("# Found\n\nall\n\n## User Discussion Context\n\nFrom `")
    assert "> No ink." in text
    assert text.endswith("## User-Provided Context\n\n- How long? -> a page\n")


def test_the_sections_are_there_once_however_often_the_paper_is_written() -> None:
    once = with_sections("# Found\n\n## User-Provided Context\n\nold\n\n## More\n\nx\n", WHOLE)

    assert with_sections(once, WHOLE) == once
    assert ("old" in once, "## More\n\nx\n" in once) == (False, True)
