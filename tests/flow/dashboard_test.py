"""The dashboard over real connections: what changes is told at once, and nothing hostile gets in or breaks it."""

import json
import os
import re
import socket
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, closing, suppress
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import msgspec
import pytest

from autopilot.agents import transcripts
from autopilot.app import dashboard as serving
from autopilot.domain.errors import RepositoryInvalid, UsageInvalid
from autopilot.domain.events import RunFinished
from autopilot.journal.answer_files import CONTEXT_MAP, AskedFile, write_open
from autopilot.views.dashboard.actions import Deeds, Given, Question
from autopilot.views.dashboard.server import MOST_VIEWERS
from autopilot.views.dashboard.slow_clients import MOST_STRANGERS, Patience
from support.dashboards import Chronicle, Site, served
from support.project import honest
from support.records import RUN
from support.runs import driven
from support.site import answers
from support.waiting import PATIENCE_S, soon

INSIDE = f"/api/projects/1/runs/{RUN}/phases"
SECRET = "ghp_" + "a1B2" * 9


class Recorder:
    """Stands in for the verbs and keeps what it was asked to do."""

    def __init__(self) -> None:
        self.done: list[tuple[Any, ...]] = []

    def verdict(self, folder: Path, phase: str, verdict: Given, issues: tuple[str, ...]) -> str:
        self.done.append(("verdict", folder.name, phase, verdict, issues))
        return f"Phase {phase}: {verdict}."

    def stop(self, folder: Path) -> str:
        self.done.append(("stop", folder.name))
        raise RepositoryInvalid("It did not stop.", why="It is busy.", do="Try again.")

    def pending(self, folder: Path) -> tuple[Question, ...]:
        return (Question(id="q1", text="Which colour?", options=("red",)),)

    def answer(self, folder: Path, question: str, text: str) -> str:
        self.done.append(("answer", question, text))
        return "Written down."

    @property
    def deeds(self) -> Deeds:
        return Deeds(stop=self.stop, verdict=self.verdict, questions=self, transcript=serving.transcript)


@pytest.fixture
def chronicle(tmp_path: Path) -> Iterator[Chronicle]:
    told = Chronicle(tmp_path / "letters")
    told.whole("1", said=f"the key is {SECRET}")
    with told.journal:
        yield told


@pytest.fixture
def recorder() -> Recorder:
    return Recorder()


@pytest.fixture
def site(chronicle: Chronicle, recorder: Recorder) -> Iterator[Site]:
    with served(chronicle.root, deeds=recorder.deeds, patience=Patience(head_s=3.0, body_s=2.0)) as found:
        yield found


@pytest.fixture(scope="module")
def attacked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Site, Recorder]]:
    """One server for all that must not get in: nothing may be done there, and it must answer to the end."""
    recorder, told = Recorder(), Chronicle(tmp_path_factory.mktemp("attacked") / "letters")
    told.whole("1")
    with told.journal, served(told.root, deeds=recorder.deeds, patience=Patience(head_s=3.0, body_s=2.0)) as site:
        yield site, recorder
        assert site.get(f"{INSIDE}/1").status == 200
    assert recorder.done == []


def test_a_viewer_is_told_all_there_is_and_then_what_changes(site: Site, chronicle: Chronicle) -> None:
    with site.watching() as viewer:
        first = viewer.run()
        chronicle.begin("2")
        change = viewer.run()

    assert (first["whole"], first["parts"]["phase/1"]["state"], first["parts"]["phase/1"]["score"]) == (
        True,
        "completed",
        9.4,
    )
    assert (change["whole"], change["parts"]["phase/2"]["state"]) == (False, "in_progress")
    assert set(change["parts"]) == {"phase/2", "open/2", "run"}


def test_a_new_run_takes_the_place_of_the_newest(site: Site, chronicle: Chronicle) -> None:
    with site.watching() as viewer:
        viewer.run()
        chronicle.journal.close()
        second = Chronicle(chronicle.root, run="run-2026-02-02-120000")
        found = viewer.run()
        second.journal.close()

    assert (found["whole"], found["parts"]["run"]["run"]) == (True, "run-2026-02-02-120000")


def test_a_damaged_journal_is_told_and_the_server_goes_on(site: Site, chronicle: Chronicle) -> None:
    with site.watching() as viewer:
        viewer.run()
        chronicle.journal.close()
        for file in (chronicle.root / ".autopilot").iterdir():
            file.write_bytes(b"nonsense")
        told = ""
        while not told:
            name, event = viewer.event()
            told = event["parts"]["projects"][0]["trouble"] if name == "projects" else ""

    assert site.get("/", {}).status == 200


def test_a_phase_is_looked_into_down_to_a_call_without_its_secrets(site: Site, chronicle: Chronicle) -> None:
    ran = transcripts.Transcript(
        call=f"{RUN}/1/execute/1", command=("agent",), stdin={"prompt": "Write it."}, stdout="x" * 90_000, stderr="",
        exit=0, seconds=1.0,
    )  # fmt: skip
    transcripts.store(chronicle.root / ".autopilot" / "transcripts", ran)

    steps = site.get(f"{INSIDE}/1").json["passes"][0]["steps"]
    call = f"{INSIDE}/1/passes/0/calls/{steps[0]['calls'][0]['entry']}"
    said = site.get(f"{call}?part=said").json
    second = site.get(f"{call}?part=output&offset=40000").json["page"]
    assert [(step["step"], step["seconds"]) for step in steps] == [("execute", 3.0)]
    assert said["page"]["text"] == "the key is [redacted:github]"
    assert said["sizes"] | {"process": 0} == {
        "answer": said["sizes"]["answer"], "said": 28, "commands": 9, "prompt": 9, "output": 90_000, "process": 0,
    }  # fmt: skip
    assert (len(second["text"]), second["next"], second["total"]) == (40_000, 80_000, 90_000)


def test_of_a_transcript_of_tens_of_megabytes_one_page_is_sent(site: Site, chronicle: Chronicle) -> None:
    held = transcripts.Transcript(
        call=f"{RUN}/1/execute/1", command=("agent",), stdin={"prompt": "p" * 20_000_000}, stdout="o" * transcripts.CAP,
        stderr="", exit=0, seconds=1.0,
    )  # fmt: skip
    place = transcripts.path_of(chronicle.root / ".autopilot" / "transcripts", held.call)
    place.parent.mkdir(parents=True)
    place.write_bytes(msgspec.json.encode(held))
    answer = site.get(f"{INSIDE}/1/passes/0/calls/2?part=prompt&offset=19960000")

    assert len(answer.body) < 100_000
    assert (answer.json["sizes"]["prompt"], answer.json["sizes"]["output"]) == (20_000_000, transcripts.CAP)
    assert (answer.json["page"]["text"], answer.json["page"]["next"]) == ("p" * 40_000, None)


def test_what_a_person_does_is_done_by_the_verbs(site: Site, recorder: Recorder) -> None:
    given = {"phase": "1", "verdict": "issues", "issues": ["too short"]}

    assert site.post("/api/projects/1/verdict", given).json == {"said": "Phase 1: issues."}
    assert site.post("/api/projects/1/answer", {"question": "q1", "text": "red"}).json == {"said": "Written down."}
    stopped = site.post("/api/projects/1/stop", {})
    assert (stopped.status, stopped.json["do"]) == (409, "Try again.")
    assert site.post("/api/projects/1/resume", {}).status == 404
    assert recorder.done == [
        ("verdict", "letters", "1", "issues", ("too short",)),
        ("answer", "q1", "red"),
        ("stop", "letters"),
    ]


def test_a_look_is_only_a_look(chronicle: Chronicle, recorder: Recorder) -> None:
    with served(chronicle.root, deeds=recorder.deeds, read_only=True) as site, site.watching() as viewer:
        assert viewer.event() == ("may", [])
        assert site.post("/api/projects/1/stop", {}).status == 403

    assert recorder.done == []


@pytest.mark.parametrize(
    "path",
    [
        "/api/projects/../../etc/passwd/runs/latest/watch",
        "/api/projects/1/runs/..%2f..%2fsecret/watch",
        "/api/projects/1/runs/latest/phases/..%2f..%2f..%2fetc%2fpasswd",
        f"{INSIDE}/..",
        f"{INSIDE}/1%00",
        f"{INSIDE}/1~1",
        f"{INSIDE}/1/passes/99/calls/0",
        f"{INSIDE}/1/passes/0/calls/999999999999",
        f"{INSIDE}/1/passes/0/calls/-1",
        f"{INSIDE}/1/passes/0/calls/..%2f0",
        f"{INSIDE}/1/passes/-1/calls/0",
        "/api/projects/9/runs/latest/watch",
        f"/api/projects/1/runs/{RUN}%2f1/watch",
        "/api/",
        "/api/projects/1/__class__",
    ],
)
def test_an_id_never_becomes_a_path(attacked: tuple[Site, Recorder], path: str) -> None:
    site, _ = attacked
    answer = site.get(path)

    assert answer.status in {404, 405}
    assert "root:" not in answer.body.decode()


FORGED: list[tuple[str, dict[str, str], bytes]] = [
    ("form", {"Content-Type": "application/x-www-form-urlencoded"}, b"phase=1&verdict=pass"),
    ("multipart", {"Content-Type": "multipart/form-data; boundary=x"}, b"--x--"),
    ("text", {"Content-Type": "text/plain"}, b'{"phase": "1", "verdict": "pass"}'),
]


@pytest.mark.parametrize(("kind", "headers", "body"), FORGED, ids=[kind for kind, *_ in FORGED])
def test_a_form_of_another_page_does_nothing(
    attacked: tuple[Site, Recorder], kind: str, headers: dict[str, str], body: bytes
) -> None:
    site, recorder = attacked
    forged = {**headers, "Origin": "http://evil.example", "Sec-Fetch-Site": "cross-site"}
    as_ours = {**headers, **site.headers(), "Origin": site.origin}

    assert site.send("POST", "/api/projects/1/verdict", forged, body).status == 403
    assert site.send("POST", "/api/projects/1/verdict", as_ours, body).status == 415
    assert recorder.done == []


@pytest.mark.parametrize(
    "body",
    [b"", b"{", b"[]", b'{"phase": 1, "verdict": "pass"}', b'{"phase": "1", "verdict": "perhaps"}', b"[" * 9000,
     b'{"phase": "1", "verdict": "pass", "more": 1}', b"\xff\xfe"],
    ids=["empty", "cut", "list", "number", "unknown", "deep", "more", "binary"],
)  # fmt: skip
def test_a_body_that_is_not_as_it_should_be_does_nothing(attacked: tuple[Site, Recorder], body: bytes) -> None:
    site, recorder = attacked
    headers = {**site.headers(), "Origin": site.origin, "Content-Type": "application/json"}

    assert site.send("POST", "/api/projects/1/verdict", headers, body).status == 400
    assert recorder.done == []


def test_every_answer_has_the_strict_headers_and_no_cookie(attacked: tuple[Site, Recorder]) -> None:
    site, _ = attacked
    for answer in (site.get("/", {}), site.get("/app.js", {}), site.get(INSIDE, {}), site.get(f"{INSIDE}/1")):
        policy = answer.headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert not {"set-cookie", "access-control-allow-origin", "server"} & answer.headers.keys()


def test_what_is_too_long_is_cut_off(attacked: tuple[Site, Recorder]) -> None:
    site, recorder = attacked
    head = f"POST /api/projects/1/stop HTTP/1.1\r\nHost: {site.host}\r\nOrigin: {site.origin}\r\nContent-Type: application/json\r\n"
    head += f"Authorization: Bearer {site.door.write_token}\r\n"
    long_header = site.raw(f"GET / HTTP/1.1\r\nHost: {site.host}\r\nX: {'y' * 70_000}\r\n\r\n".encode())
    chunks = f"{head}Transfer-Encoding: chunked\r\n\r\n".encode() + b"2000\r\n" + b" " * 0x2000 + b"\r\n"
    long_body = site.raw(chunks + b"2001\r\n" + b" " * 0x2001 + b"\r\n0\r\n\r\n")

    assert b" 431 " in long_header.splitlines()[0]
    assert b" 413 " in long_body.splitlines()[0]
    assert recorder.done == []


def test_a_request_that_drips_is_dropped(attacked: tuple[Site, Recorder]) -> None:
    site, _ = attacked
    begun = time.monotonic()
    with socket.create_connection(("127.0.0.1", site.port), timeout=PATIENCE_S) as held:
        held.settimeout(0.1)
        got = None
        while got is None and time.monotonic() - begun < PATIENCE_S:
            try:
                held.sendall(b"G")
                got = held.recv(10)
            except TimeoutError:
                continue
            except OSError:
                got = b""

    assert got == b""


def test_a_body_that_never_comes_is_not_waited_for(attacked: tuple[Site, Recorder]) -> None:
    site, _ = attacked
    head = (
        f"POST /api/projects/1/stop HTTP/1.1\r\nHost: {site.host}\r\nOrigin: {site.origin}\r\n"
        f"Content-Type: application/json\r\nAuthorization: Bearer {site.door.write_token}\r\nContent-Length: 10\r\n\r\n"
    )

    assert b" 408 " in site.raw(head.encode()).splitlines()[0]


def test_two_hundred_viewers_see_the_same_change(site: Site, chronicle: Chronicle) -> None:
    with ExitStack() as open_ones:
        viewers = [open_ones.enter_context(site.watching()) for _ in range(200)]
        assert all(viewer.run()["whole"] for viewer in viewers)
        chronicle.begin("3")
        seen = {json.dumps(viewer.run()) for viewer in viewers}

    assert len(seen) == 1


def test_a_viewer_that_reads_nothing_holds_nobody_up(site: Site, chronicle: Chronicle) -> None:
    with socket.create_connection(("127.0.0.1", site.port)) as deaf, site.watching() as viewer:
        deaf.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1024)
        token = site.door.write_token
        deaf.sendall(
            f"GET /api/projects/1/runs/latest/watch HTTP/1.1\r\nHost: {site.host}\r\nAuthorization: Bearer {token}\r\n\r\n".encode()
        )
        viewer.run()
        for _ in range(30):
            chronicle.open_step("1")
        chronicle.tell(RUN, RunFinished(status="completed", exit_code=0, reason="over"))
        while viewer.run()["parts"].get("run", {}).get("state") != "completed":
            pass


@pytest.mark.slow
def test_viewers_beyond_the_five_hundredth_are_told_so(site: Site) -> None:
    """They all ask before the first is answered: each counts from then on."""
    request = f"GET /api/projects/1/runs/latest/watch HTTP/1.1\r\nHost: {site.host}\r\n"
    request += f"Authorization: Bearer {site.door.read_token}\r\n\r\n"
    with ExitStack() as open_ones:
        held = list[socket.socket]()
        for _ in range(MOST_VIEWERS + 100):
            held.append(open_ones.enter_context(socket.create_connection(("127.0.0.1", site.port), PATIENCE_S)))
            held[-1].sendall(request.encode())
        told = Counter(one.recv(12) for one in held)

    assert told == {b"HTTP/1.1 200": MOST_VIEWERS, b"HTTP/1.1 503": 100}
    assert soon(lambda: site.get(f"{INSIDE}/1").status == 200)


def is_closed(held: socket.socket) -> bool:
    held.setblocking(False)
    try:
        return held.recv(1) == b""
    except BlockingIOError:
        return False
    except OSError:
        return True


@pytest.mark.parametrize(
    "said", [b"", b"GET / HT", b"GET /api/ HTTP/1.1\r\nHost: x\r\n"], ids=["silent", "cut", "half"]
)
def test_who_has_the_token_is_answered_while_strangers_hang(said: bytes, chronicle: Chronicle) -> None:
    """Nobody of them is given up for slowness here: there is only so much room for those who show no token."""
    slow = Patience(head_s=PATIENCE_S, stranger_s=PATIENCE_S)
    with served(chronicle.root, patience=slow) as site, ExitStack() as open_ones:
        viewer = open_ones.enter_context(site.watching())
        viewer.run()
        hung = list[socket.socket]()
        for _ in range(900):
            hung.append(open_ones.enter_context(socket.create_connection(("127.0.0.1", site.port), PATIENCE_S)))
            with suppress(OSError):
                hung[-1].sendall(said)
        statuses = [site.get(f"{INSIDE}/1").status for _ in range(5)]
        chronicle.begin("2")
        viewer.run()

        assert statuses == [200] * 5
        assert soon(lambda: sum(not is_closed(one) for one in hung) <= MOST_STRANGERS)
        assert any(not is_closed(one) for one in hung)


def test_a_stranger_has_two_seconds_and_a_guest_has_longer() -> None:
    assert (Patience().stranger_s, Patience().head_s) == (2.0, 10.0)


def test_several_projects_are_shown_beside_each_other(site: Site, tmp_path: Path, recorder: Recorder) -> None:
    other = Chronicle(tmp_path / "numbers")
    other.journal.close()

    with served(*site.roots, other.root, tmp_path / "empty") as both, both.watching(project="2") as viewer:
        viewer.event()
        listed = viewer.event()[1]["parts"]["projects"]
        assert [(p["name"], len(p["runs"])) for p in listed] == [("letters", 1), ("numbers", 1), ("empty", 0)]
        assert viewer.run()["parts"]["run"]["state"] == "running"


def test_a_stopped_run_goes_on_from_the_page(tmp_path: Path) -> None:
    project = driven(tmp_path, honest(), "1", "3")

    def stop(entry: Any) -> None:
        if type(entry.event).__name__ == "PhaseLanded":
            project.meanwhile = lambda _: None
            raise KeyboardInterrupt

    project.meanwhile = stop
    with pytest.raises(KeyboardInterrupt):
        project.run()
    with served(project.root, deeds=serving.verbs()) as site, site.watching() as viewer:
        viewer.run()
        said = site.post("/api/projects/1/resume", {}).json["said"]
        while viewer.run()["parts"].get("run", {}).get("state") != "completed":
            pass

    assert said in {"The run goes on.", "The run came to its end."}


def test_why_a_run_does_not_go_on_is_told_in_full(tmp_path: Path) -> None:
    """A user who has not agreed to what changed reads what is missing and what to type, warnings or not."""
    project = driven(tmp_path, honest(), "1", "3")

    def stop(entry: Any) -> None:
        if type(entry.event).__name__ == "PhaseLanded":
            raise KeyboardInterrupt

    project.meanwhile = stop
    with pytest.raises(KeyboardInterrupt):
        project.run()
    changed = '{"project": {"commands": {"test": "true"}}, "odd": 1}'
    (project.root / ".planning" / "config.json").write_text(changed, encoding="utf-8")
    with served(project.root, deeds=serving.verbs()) as site:
        answer = site.post("/api/projects/1/resume", {})

    assert answer.status == 409
    assert "trust" in answer.json["do"]
    assert "warning" not in answer.json["error"]
    assert not [part for part in answer.json.values() if part.startswith("It ended with exit code")]


@pytest.mark.parametrize(
    ("printed", "parts"),
    [
        (
            "  setup  npm ci\nautopilot: warning: Old.\nautopilot: It is not trusted.\n  Nothing runs.\n  Type it.\n",
            ("It is not trusted.", "Nothing runs.", "Type it."),
        ),
        ("autopilot: A.\n  B.\nC\n  D.\n", ("A.", "B. C", "D.")),
        ("autopilot: A.\n", ("A.", "It ended with exit code 3.", serving.SEE_ALL)),
        ("Traceback\nKeyError: 1\n", ("KeyError: 1", "It ended with exit code 3.", serving.SEE_ALL)),
        ("", ("autopilot resume ended with 3.", "It ended with exit code 3.", serving.SEE_ALL)),
    ],
)
def test_what_the_process_said_is_read_in_its_three_parts(printed: str, parts: tuple[str, str, str]) -> None:
    error = serving._did_not_start(3, printed)

    assert (error.what, error.why, error.do) == parts


def test_a_question_is_answered_where_the_next_sitting_looks(tmp_path: Path) -> None:
    asked = {"kind": "map", "phase": "1", "number": 1, "question": "Which colour?", "category": "c", "why_needed": "w"}
    area = {"kind": "areas", "phase": "1", "areas": ["looks"]}
    write_open(tmp_path / ".autopilot", [area, asked], "2026-01-01T12:00:00.000Z")
    with served(tmp_path, deeds=serving.verbs()) as site, site.watching() as viewer:
        viewer.event()
        waiting = viewer.event()[1]["parts"]["projects"][0]["questions"]
        answer = {"question": waiting[0]["id"], "text": "red"}
        assert site.post("/api/projects/1/answer", answer).json["said"] == "Your answer is kept. Questions left: 0."
        assert site.post("/api/projects/1/answer", answer).status == 409
        assert viewer.event()[1]["parts"]["projects"][0]["questions"] == []

    kept = AskedFile(tmp_path / ".autopilot", CONTEXT_MAP).read().phase("1").questions
    assert [(one.question, one.answer) for one in kept] == [("Which colour?", "red")]
    assert json.loads((tmp_path / ".autopilot" / "questions.json").read_bytes())["questions"] == [area]


def test_a_run_that_cannot_go_on_says_why(tmp_path: Path) -> None:
    project = driven(tmp_path, honest())
    with served(project.root, deeds=serving.verbs()) as site:
        (project.root / ".autopilot").mkdir(exist_ok=True)
        answer = site.post("/api/projects/1/resume", {})

    assert (answer.status, answer.json["error"]) == (409, "No run found.")


@pytest.mark.parametrize(
    ("more", "told"),
    [({"host": "0.0.0.0"}, "no address"), ({"host": "evil"}, "no address"), ({"host": "192.0.2.7"}, "other machines")],
    ids=["any", "name", "far"],
)
def test_beyond_this_machine_is_only_for_looking(more: dict[str, Any], told: str) -> None:
    with pytest.raises(UsageInvalid, match=told):
        serving.door_of(serving.ServeRequest(folders=(), **more))

    assert serving.door_of(serving.ServeRequest(folders=(), host="192.0.2.7", read_only=True)).write_token is None


def test_a_port_that_is_taken_is_told() -> None:
    with socket.create_server(("127.0.0.1", 0)) as held, pytest.raises(UsageInvalid, match="cannot be served"):
        serving.listening(serving.ServeRequest(folders=(), port=held.getsockname()[1]))


def test_the_verb_prints_where_to_look_and_ends_quietly(tmp_path: Path) -> None:
    project = driven(tmp_path, honest())
    command = [sys.executable, "-u", "-m", "autopilot", "serve", "--port", "0"]
    with subprocess.Popen(command, cwd=project.root, stdout=subprocess.PIPE, text=True, env={**os.environ}) as child:
        assert child.stdout is not None
        lines = [child.stdout.readline() for _ in range(3)]
        port = int(re.findall(r":(\d+)/", lines[0])[0])
        assert soon(lambda: answers(port))
        # Only a server that answers has set its handler; before, whoever ignores SIGINT hands that on to it.
        with closing(HTTPConnection("127.0.0.1", port, timeout=PATIENCE_S)) as client:
            client.request("GET", "/")
            client.getresponse().read()
        child.send_signal(2)
        code = child.wait()

    assert [line.partition(":")[0] for line in lines[:2]] == ["Dashboard", "To look only"]
    assert code == 0
