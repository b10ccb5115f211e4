"""Every gate there is: those of the pipeline and the two that stand outside its order."""

from typing import Any

from autopilot.gates.rules import Gate
from autopilot.pipeline import ENDING, PHASE_GATE, PIPELINE, UNANSWERED

AnyGate = Gate[Any, Any, Any, Any]


def all_gates() -> dict[str, AnyGate]:
    gates: list[AnyGate] = [*(stage.gate for stage in (*PIPELINE, *ENDING)), UNANSWERED, PHASE_GATE]
    return {gate.name: gate for gate in gates}
