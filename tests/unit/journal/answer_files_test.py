"""The files that keep answers: whole, locked, and never written over what is not ours."""

import threading
from pathlib import Path

import pytest

from autopilot.domain.errors import ConfigInvalid
from autopilot.domain.user_answers import with_phase
from autopilot.journal.answer_files import CONTEXT_MAP, QUESTIONS, AskedFile, write_open


def test_cmap_03f_what_was_kept_is_there_for_the_next_who_looks(tmp_path: Path) -> None:
    AskedFile(tmp_path, CONTEXT_MAP).update(lambda p: with_phase(p, "3", {"context_score": 4}, [], "now"))

    assert AskedFile(tmp_path, CONTEXT_MAP).read().phase("3").context_score == 4


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"version": "9"}', b'{"phases": {}}', b"\xff"])
def test_cmap_03c_a_damaged_or_foreign_file_is_an_error_and_stays_as_it_is(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / CONTEXT_MAP
    path.write_bytes(content)

    with pytest.raises(ConfigInvalid, match=str(path)):
        AskedFile(tmp_path, CONTEXT_MAP).update(lambda paper: paper)
    assert path.read_bytes() == content


def test_cmap_03c_of_many_who_write_at_once_none_undoes_another(tmp_path: Path) -> None:
    def add(number: int) -> None:
        AskedFile(tmp_path, CONTEXT_MAP).update(lambda p: with_phase(p, str(number), {}, [], "now"))

    threads = [threading.Thread(target=add, args=(n,)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert set(AskedFile(tmp_path, CONTEXT_MAP).read().phases) == {str(n) for n in range(8)}


def test_open_questions_are_written_while_there_are_any_and_cleared_after(tmp_path: Path) -> None:
    write_open(tmp_path, [], "now")
    assert not (tmp_path / QUESTIONS).exists()

    write_open(tmp_path, [{"phase": "3"}], "now")
    assert '"phase": "3"' in (tmp_path / QUESTIONS).read_text(encoding="utf-8")
    write_open(tmp_path, [], "later")
    assert '"questions": []' in (tmp_path / QUESTIONS).read_text(encoding="utf-8")
