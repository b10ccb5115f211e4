"""What a fuzzer feeds with bytes: each target lets through a value or one of our own errors, and nothing else."""

from fuzz import agent_targets, code_targets, paper_targets, planning_targets
from fuzz.planning_targets import Target

TARGETS: dict[str, Target] = {
    **planning_targets.TARGETS,
    **agent_targets.TARGETS,
    **paper_targets.TARGETS,
    **code_targets.TARGETS,
}
