"""Sends spans to a collector by OTLP. Where to, and with which headers, the standard OTEL_* variables say."""

import logging
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from autopilot.domain.errors import UsageInvalid
from autopilot.text.distribution import how_to_install
from autopilot.views.export.spans import Span

if TYPE_CHECKING:
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.trace import ReadableSpan

BATCH = 256
ENDPOINTS = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def endpoint_of(environment: Mapping[str, str]) -> str:
    """Where spans go; empty where no variable says."""
    return next((environment[name] for name in ENDPOINTS if environment.get(name)), "")


def send(spans: Sequence[Span], environment: Mapping[str, str]) -> int:
    """Send them all; how many. Raises `UsageInvalid` when they cannot be, or were not taken."""
    where = endpoint_of(environment)
    if not where:
        raise UsageInvalid(
            "There is no collector to send traces to.",
            why="Where they go is said by the standard variables of OpenTelemetry, and none is set.",
            do="Set OTEL_EXPORTER_OTLP_ENDPOINT, as in OTEL_EXPORTER_OTLP_ENDPOINT=http://localhost:4318",
        )
    try:
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.resources import Resource
        from opentelemetry.sdk.trace.export import SpanExportResult
    except ModuleNotFoundError as error:
        raise UsageInvalid(
            f"Traces need a library that is not installed: {error.name}.",
            why="It is an extra, so that those who do not use it need not have it.",
            do=f"Install it: {how_to_install('otel')}.",
        ) from error
    logging.getLogger("opentelemetry").setLevel(logging.CRITICAL)  # What fails is told by us, once.
    exporter = OTLPSpanExporter()
    named = {} if environment.get("OTEL_SERVICE_NAME") else {"service.name": "autopilot"}
    resource = Resource.create(named)
    try:
        taken = all(
            exporter.export(list(_readable(spans[at : at + BATCH], resource))) is SpanExportResult.SUCCESS
            for at in range(0, len(spans), BATCH)
        )
    finally:
        exporter.shutdown()  # type: ignore[no-untyped-call]  # the library leaves this one untyped
    if not taken:
        raise UsageInvalid(
            "The collector did not take the traces.",
            why="The address that OTEL_EXPORTER_OTLP_ENDPOINT names does not answer, or it refuses them.",
            do="Look whether a collector listens there for OTLP over HTTP (usually port 4318), then export again.",
        )
    return len(spans)


def _readable(spans: Sequence[Span], resource: "Resource") -> "Iterator[ReadableSpan]":
    from opentelemetry.sdk.trace import ReadableSpan
    from opentelemetry.sdk.util.instrumentation import InstrumentationScope
    from opentelemetry.trace import SpanContext, SpanKind, TraceFlags
    from opentelemetry.trace.status import Status, StatusCode

    kinds = {"internal": SpanKind.INTERNAL, "client": SpanKind.CLIENT}
    for span in spans:
        trace, sampled = int(span.trace, 16), TraceFlags(TraceFlags.SAMPLED)
        parent = SpanContext(trace, int(span.parent, 16), is_remote=False, trace_flags=sampled) if span.parent else None
        status = Status(StatusCode.ERROR, span.error) if span.error else Status(StatusCode.UNSET)
        yield ReadableSpan(
            name=span.name,
            context=SpanContext(trace, int(span.id, 16), is_remote=False, trace_flags=sampled),
            parent=parent,
            resource=resource,
            attributes={**span.attributes, **({"autopilot.open": True} if span.open else {})},
            kind=kinds[span.kind],
            status=status,
            start_time=_nanoseconds(span.start),
            end_time=max(_nanoseconds(span.start), _nanoseconds(span.end)),
            instrumentation_scope=InstrumentationScope("autopilot"),
        )


def _nanoseconds(at: str) -> int:
    since = datetime.fromisoformat(at) - _EPOCH
    return (since.days * 86_400 + since.seconds) * 10**9 + since.microseconds * 1000
