"""Runs under the fault layer: strikes every store at every operation, and tells what came of it as JSON."""

import json
import os
import random
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

from autopilot.domain.errors import AutopilotError
from support.fault_layer import KINDS, Fault, FaultLayer, joined
from support.stores import EVERY, NAIVE, STORES, Store


def struck(store: Store, folder: Path, layer: FaultLayer, at: int, fault: Fault) -> str:
    """`unmet`, `survived` or `told`; anything else is a violation, in words."""
    acknowledged = list[str]()
    shutil.rmtree(folder, ignore_errors=True)
    layer.arm(folder, at, fault)
    outcome = "survived"
    try:
        store.work(folder, acknowledged.append)
    except AutopilotError as error:
        outcome = "told" if error.what and error.why and error.do else "an error without its three parts"
    except Exception as error:  # noqa: BLE001 - what must not happen is what is looked for
        outcome = f"{type(error).__name__}: {error}"
    if not layer.disarm()[1]:
        return "unmet"
    return outcome if outcome not in {"survived", "told"} else aftermath(store, folder, acknowledged) or outcome


def aftermath(store: Store, folder: Path, acknowledged: list[str]) -> str:
    """With the disk well again: everything acknowledged is there, nothing else is, and the work can be done."""
    try:
        found = store.held(folder)
        if set(acknowledged) - set(found):
            return f"lost {sorted(set(acknowledged) - set(found))}"
        if set(found) - set(store.all):
            return f"made up {sorted(set(found) - set(store.all))}"
        store.work(folder, acknowledged.append)
        return "" if set(acknowledged) <= set(store.held(folder)) else "lost what was done again"
    except Exception as error:  # noqa: BLE001 - as above
        return f"afterwards {type(error).__name__}: {error}"


def operations(store: Store, folder: Path, layer: FaultLayer) -> int:
    shutil.rmtree(folder, ignore_errors=True)
    layer.arm(folder)
    store.work(folder, lambda _: None)
    return layer.disarm()[0]


def campaign(folder: Path, sample: int, seed: int, stores: dict[str, Store]) -> dict[str, object]:
    """Every operation with every kind of fault, or a sample of so many a store."""
    layer, counts, violations = joined(), Counter[str](), list[str]()
    for name, store in stores.items():
        every = [(at, fault) for at in range(1, operations(store, folder, layer) + 1) for fault in KINDS]
        picked = random.Random(f"{seed} {name}").sample(every, sample) if 0 < sample < len(every) else every
        for at, fault in picked:
            came = struck(store, folder, layer, at, fault)
            counts[came if came in {"unmet", "survived", "told"} else "violation"] += 1
            if came not in {"unmet", "survived", "told"}:
                violations.append(f"{name}, operation {at}, {fault.name}: {came}")
    return {"counts": counts, "violations": violations}


def worked(folder: Path, store: Store, log: Path) -> list[tuple[int, str]]:
    """Work undisturbed, and say how much had been written to the log when something was acknowledged."""
    acknowledged = list[tuple[int, str]]()
    layer = joined()
    layer.arm(folder)
    store.work(folder, lambda what: acknowledged.append((log.stat().st_size, what)))
    layer.disarm()
    return acknowledged


def told_in_child(layer: FaultLayer, *words: str | Path, log: Path | None = None) -> Any:
    """What this module tells as a program under the layer."""
    env = {**os.environ, **layer.env, **({"FAULT_LOG": str(log)} if log else {})}
    env["PYTHONPATH"] = os.pathsep.join(sys.path)
    done = subprocess.run([sys.executable, __file__, *map(str, words)], env=env, capture_output=True, check=True)
    return json.loads(done.stdout)


def main(verb: str, folder: str, *words: str) -> Any:
    if verb == "work":
        return worked(Path(folder), EVERY[words[0]], Path(os.environ["FAULT_LOG"]))
    stores = {"naive": NAIVE} if words[2:] else STORES
    return campaign(Path(folder), int(words[0]), int(words[1]), stores)


if __name__ == "__main__":
    sys.stdout.write(json.dumps(main(*sys.argv[1:])))
