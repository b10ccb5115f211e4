"""Traces of a whole run, at a collector on this machine: run, phase, step and call, and nothing that was said."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from autopilot.app import traces as tracing
from autopilot.cli.main import main
from autopilot.domain.errors import UsageInvalid
from support.project import honest
from support.receivers import Received, receiving
from support.runs import Drive, driven


def spans_at(received: Received) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for path, body in received.posts:
        assert path == "/v1/traces"
        request = ExportTraceServiceRequest.FromString(body)
        found |= {s.span_id.hex(): s for r in request.resource_spans for scope in r.scope_spans for s in scope.spans}
    return found


def attributes(span: Any) -> dict[str, Any]:
    return {a.key: getattr(a.value, a.value.WhichOneof("value")) for a in span.attributes}


def line_of(span: Any, spans: dict[str, Any]) -> list[str]:
    above = spans.get(span.parent_span_id.hex())
    return [*(line_of(above, spans) if above else []), span.name]


@pytest.fixture
def project(tmp_path: Path) -> Drive:
    return driven(tmp_path, honest(), "1", "2")


def test_a_run_is_exported_afterwards_and_again_as_the_same(
    project: Drive, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    run = project.run().run
    monkeypatch.chdir(project.root)
    with receiving() as received:
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", f"http://127.0.0.1:{received.port}")
        assert main(["export", "--otel"]) == 0
        first = spans_at(received)
        assert main(["export", run, "--otel"]) == 0
        assert spans_at(received).keys() == first.keys()

    lines = [line_of(span, first) for span in first.values()]
    assert ["invoke_workflow autopilot", "phase 1", "step execute", "invoke_agent execute"] in lines
    assert ["invoke_workflow autopilot", "completion", "step integration", "invoke_agent integration"] in lines
    call = attributes(next(s for s in first.values() if s.name == "invoke_agent plan"))
    assert (call["gen_ai.operation.name"], call["gen_ai.agent.name"]) == ("invoke_agent", "plan")
    assert (call["gen_ai.provider.name"], call["gen_ai.conversation.id"]) == ("scripted", run)
    assert all(s.start_time_unix_nano <= s.end_time_unix_nano for s in first.values())
    assert f"Sent {len(first)} spans." in capfd.readouterr().out
    assert b"nothing is there yet" not in b"".join(body for _, body in received.posts)


def test_a_run_sends_its_traces_as_it_goes_if_its_user_wants_that(
    project: Drive, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "config.toml").write_text("[traces]\notel = true\n")
    monkeypatch.setenv("AUTOPILOT_CONFIG", str(tmp_path / "mine"))
    with receiving() as received:
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", f"http://127.0.0.1:{received.port}")
        run = project.run().run
        live = spans_at(received)

    assert len(received.posts) == 3
    assert live.keys() == {span.id for span in tracing.spans(str(project.root), run)}


@pytest.mark.parametrize("status", [200, 400], ids=["nobody-listens", "refused"])
def test_a_collector_that_does_not_take_them_is_a_note_only(
    status: int, project: Drive, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "config.toml").write_text("[traces]\notel = true\n")
    monkeypatch.setenv("AUTOPILOT_CONFIG", str(tmp_path))
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_TIMEOUT", "1")
    with receiving(status) as received:
        port = received.port if status != 200 else 1
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", f"http://127.0.0.1:{port}")
        end = project.run("1")

    assert end.exit == 0
    assert [w for w in project.warnings if w.startswith("Traces were not sent")] == [
        "Traces were not sent: The collector did not take the traces. Send them later with: autopilot export --otel"
    ]


def told(found: Sequence[Any]) -> list[str]:
    return [json.loads(line)["name"] for line in found]


def test_spans_can_be_printed_without_any_collector(
    project: Drive, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    project.run("1")
    monkeypatch.chdir(project.root)
    monkeypatch.delenv("OTEL_EXPORTER_OTLP_ENDPOINT", raising=False)

    assert main(["export", "--json"]) == 0
    assert told(capfd.readouterr().out.splitlines())[:2] == ["invoke_workflow autopilot", "phase 1"]
    with pytest.raises(UsageInvalid, match="no collector"):
        tracing.export(str(project.root), "")
    with pytest.raises(UsageInvalid, match="no run 'x'"):
        tracing.export(str(project.root), "x")
