#!/usr/bin/env python3
"""Fails where a private word or phrase stands for one of the field's (docs/glossary.md).

    tools/check_words.py [ROOT]        exit status 1 and one line for each place

Looks at src, include, intercept, python, bench, tools and docs. Lines with a function's or setting's
former name, which is still accepted, are exempt where EXEMPT says so.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

FOLDERS = ("src", "include", "intercept", "python", "bench", "tools", "docs", "README.md", "CONTRIBUTING.md")
SUFFIXES = frozenset({".c", ".h", ".cpp", ".hpp", ".inc", ".py", ".pyi", ".md"})

WORDS: dict[str, str] = {
    r"outlooks?|ArrivalPicture|habits?|lateness": "arrival profile, predictor, delay",
    r"decrees?|grants_|EpochGrant": "epoch",
    r"leases?|leased|prolong(?:s|ed)?": "epoch length, extension",
    r"tickets?": "call announcement",
    r"mails?|mailbox(?:es)?|RmaNotice|MailChannel": "control message, message queue",
    r"early_calls?|EarlyCalls|EarlyMessages": "asynchronous progress, unexpected messages",
    r"attends": "dummy participation",
    r"share_way|told_\w+|last_told_": "size exchange, broadcast of the selection",
    r"levelled|Level(?:Runner|Plan|Call|Step|Kind|View|Side|Choice)|level=node": "hierarchical",
    r"contests?|TrialWindows|Trial|[Tt]rials?|on_trial": "tuning case, exploration",
    r"RunMark|CallKind|CallPassage|KindTimes": "algorithm id, call signature, timing sample",
    r"Circumstances|LevelSituation|CallKnowledge": "call context, selection features",
    r"Helper": "progress capability",
    r"Placement|Placements|Seating|placements_of": "buffer assignment, rank order, mapping",
    r"RankPlace|ProcessPlace|RmaPlace|RootPlace": "location",
    r"own_in_place|own_dense|all_dense|all_torn|ReductionEnds": "send buffer, receive buffer",
    r"torn|aside|slack": "scattered, staging, padding",
    r"dense": "contiguous",
    r"misfits?": "count mismatch",
    r"NodeFlags?|raise_to|ticks?_of_call": "signal, sequence number",
    r"SharedWays|shared_ways|WayLoads|way_loads": "link, shared link",
    r"descent|max_looks": "local search, evaluation budget",
    r"crowding|crowded": "oversubscription",
    r"unasked": "eager",
    r"Rooted(?:Call|Problem|Planner)|run_rooted": "gather/scatter",
    r"(?:most|least|MOST|LEAST)_(?!common|typical)\w+": "max_, min_",
    r"knowledge/|choose/|passes/": "protocols/, topology/, select/, lowering/",
    r"TUTTI_LEVEL": "TUTTI_HIERARCHY",
    r"tutti place": "tutti map",
}
"""What is not written any more, and what is."""

PHRASES: dict[str, str] = {
    r"(?:it|they) (?:was|were) asked for": "requested",
    r"runs? straight": "runs flat",
    r"goes by|go by": "uses, follows",
    r"is no (?:setting|level|algorithm|order|distribution|collective)": "unknown ..; did you mean ..",
    r"leaves? it (?:all|to)": "the MPI runs it",
    r"through nodes": "hierarchical",
    r"more than a (?:tenth|twentieth)|a tenth (?:of|less|faster)": "10 %",
}

EXEMPT: dict[str, str] = {
    "docs/decisions/words-of-the-field.md": r".",
    "docs/glossary.md": r"Proficz|Paznikov|paper",
    "src/select/setting.cpp": r"level=|former",
    "src/select/selection.hpp": r"former|accepted too",
    "src/select/settings.inc": r"TUTTI_FORMER_SETTING",
    "python/tutti/report_fields.py": r"FORMER",
    "python/tutti/commands/explain_hierarchical.py": r"level=node",
    "bench/claims.json": r"level=node",
    "docs/results/claims.md": r"level=node",
    "docs/results/levels-lab.md": r"level=node",
    "bench/lab_levels.py": r"level=node",
    "tools/check_words.py": r".",
}
"""Lines of a file that may have them: those that match."""

PATTERNS = [
    (re.compile(rf"(?<!\w)(?:{old})(?!\w)"), new) for old, new in (WORDS | PHRASES).items()
]
MARKER = re.compile(r"<!-- Written by `page`")


def files(root: Path) -> list[Path]:
    """What is looked at."""
    found: list[Path] = []
    for name in FOLDERS:
        path = root / name
        found += [path] if path.is_file() else sorted(path.rglob("*"))
    return [path for path in found if path.suffix in SUFFIXES and path.is_file()]


def violations(root: Path) -> list[str]:
    """One line for each place."""
    found = []
    for path in files(root):
        name = path.relative_to(root).as_posix()
        exempt = re.compile(EXEMPT[name]) if name in EXEMPT else None
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            if name.startswith("docs/results/") and MARKER.search(line):
                break  # what follows is made from samples of earlier versions
            if exempt and exempt.search(line):
                continue
            found += [
                f"{name}:{number}: '{match.group(0)}': write {new}"
                for pattern, new in PATTERNS
                for match in pattern.finditer(line)
            ]
    return found


def main() -> int:
    """Prints the violations and returns the exit status."""
    root = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parent.parent
    found = violations(root)
    for line in found:
        print(line)
    if found:
        print(f"{len(found)} private word(s); docs/glossary.md has the field's", file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
