"""The schedules of all ranks as files: JSON, and the GOAL language of LogGOPSim."""

from __future__ import annotations

import json
from collections import Counter

from tutti._engine import Call, Step


def to_json(call: Call) -> str:
    """One object: collective, root, p, and for each rank its steps.

    A step has the fields of the text form: kind, peer, blocks [begin, end), holes, bytes, offset,
    after, slots and runner; a wait has first and last.
    """
    ranks = []
    for rank in range(call.ranks):
        steps = [_fields(step) for step in call.steps(rank)]
        ranks.append("\n" + json.dumps(steps, separators=(",", ":")))
    return (
        f'{{"collective":"{call.collective}","root":{call.root},"p":{call.ranks},'
        f'"ranks":[{",".join(ranks)}]}}\n'
    )


def _fields(step: Step) -> dict[str, object]:
    if step.kind == "wait":
        return {"kind": step.kind, "first": step.first, "last": step.last}
    fields: dict[str, object] = {"kind": step.kind, "peer": step.peer, "blocks": step.blocks}
    if step.holes:
        fields["holes"] = step.holes
    fields["bytes"] = step.bytes
    if step.offset:
        fields["offset"] = step.offset
    if step.after >= 0:
        fields["after"] = step.after
    if step.slots:
        fields["slots"] = step.slots
    if step.background:
        fields["runner"] = "background"
    return fields


def to_goal(call: Call) -> str:
    """One block of GOAL for each rank: sends, receives and their requirements.

    A wait becomes a `calc 0` that requires the steps that it names. LogGOPSim charges (s - 1) G for
    s bytes, so a message without bytes is written as one byte. The k-th message from one rank to
    another has tag k: LogGOPSim posts the receives of a time in any sequence, so that equal tags
    would match the wrong ones.

        num_ranks 2

        rank 0 {
        l0: recv 16b from 1 tag 0
        }
    """
    blocks = (_block(rank, steps) for rank, steps in enumerate(call.message_steps()))
    return f"num_ranks {call.ranks}\n" + "".join(blocks)


def _block(rank: int, steps: list[tuple[Step, list[int]]]) -> str:
    lines = [f"\nrank {rank} {{"]
    last_wait = -1
    tags: Counter[tuple[str, int]] = Counter()
    for number, (step, needs) in enumerate(steps):
        lines.append(f"l{number}: {_operation(step, tags[step.kind, step.peer])}")
        tags[step.kind, step.peer] += 1
        required = ([last_wait] if last_wait >= 0 else []) + needs
        if step.kind == "wait":
            named = range(step.first, step.last)
            required += [other for other in named if other not in (last_wait, number)]
            last_wait = number
        lines += [f"l{number} requires l{other}" for other in required]
    return "\n".join(lines) + "\n}\n"


def _operation(step: Step, tag: int) -> str:
    if step.kind not in ("send", "recv"):
        return "calc 0"
    way = "to" if step.kind == "send" else "from"
    return f"{step.kind} {max(step.bytes, 1)}b {way} {step.peer} tag {tag}"
