"""Pictures compared: what counts as another look, and what does not."""

import io

import pytest

from autopilot.evidence.visual.compare import Comparison, compare, is_blank

Image = pytest.importorskip("PIL.Image", reason="pillow (the extra `visual`) is not installed")


def drawn(*boxes: tuple[tuple[int, int, int, int], int], size: tuple[int, int] = (60, 40)) -> bytes:
    """Grey boxes on white; a box is (left, top, right, bottom) and its grey."""
    picture = Image.new("L", size, 255)
    for box, grey in boxes:
        picture.paste(grey, box)
    out = io.BytesIO()
    picture.save(out, "PNG")
    return out.getvalue()


def compared(before: bytes, after: bytes) -> Comparison:
    found = compare(before, after)
    assert found is not None
    return found


BOX = ((10, 10, 30, 30), 0)
EDGE = ((30, 10, 31, 30), 128)


@pytest.mark.parametrize(
    "after",
    [drawn(BOX), drawn(BOX, EDGE), drawn(((11, 10, 31, 30), 0)), drawn(((10, 10, 30, 30), 15))],
    ids=["the same", "a softer edge", "one pixel further", "a shade"],
)
def test_how_edges_are_smoothed_is_no_difference(after: bytes) -> None:
    assert not compared(drawn(BOX), after).differs


@pytest.mark.parametrize(
    ("after", "where"),
    [
        (drawn(BOX, ((5, 35, 55, 36), 0)), "x 5-55, y 35-36"),
        (drawn(), "x 10-30, y 10-30"),
        (drawn(((20, 10, 40, 30), 0)), "x 10-40, y 10-30"),
    ],
    ids=["a thin line", "a box that is gone", "a box that moved"],
)
def test_what_a_person_would_see_is_found_and_shown(after: bytes, where: str) -> None:
    found = compared(drawn(BOX), after)

    assert (found.differs, found.where) == (True, where)
    assert found.picture.startswith(b"\x89PNG")


def test_it_does_not_matter_which_picture_came_first() -> None:
    one, other = drawn(BOX), drawn(((20, 10, 40, 30), 0))

    assert compared(one, other).pixels == compared(other, one).pixels


def test_another_size_is_another_look() -> None:
    found = compared(drawn(BOX), drawn(BOX, size=(61, 40)))

    assert (found.share, found.note) == (1.0, "the picture is 61x40 and its baseline 60x40")


@pytest.mark.parametrize("content", [b"", b"GIF89a", drawn(BOX)[:60]], ids=["empty", "no PNG", "cut short"])
def test_what_is_no_picture_is_not_compared(content: bytes) -> None:
    assert compare(content, drawn(BOX)) is None


def test_only_a_page_of_one_colour_is_blank() -> None:
    assert (is_blank(drawn()), is_blank(drawn(((0, 0, 1, 1), 254))), is_blank(b"")) == (True, False, False)
