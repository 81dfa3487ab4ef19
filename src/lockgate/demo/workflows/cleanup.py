"""Cleanup: find big files, show a person a table of them, delete them only if the person says so."""

import os
from typing import Any

from lockgate import (
    Ask,
    Context,
    Workflow,
    action,
    choice,
    compute,
    decision_edge,
    human_decision,
    idempotent,
    preformatted,
    switch_edge,
)

PLACE = "var"
"""Only this directory of the project is looked at."""


def find(ctx: Context) -> dict[str, Any]:
    """The files over `at_least` bytes (of the run's input, 100 KB if it says nothing), the biggest first."""
    at_least = (ctx.input or {}).get("at_least", 100_000)
    found: list[dict[str, Any]] = []
    for directory, _, names in os.walk(PLACE):
        for name in names:
            path = os.path.join(directory, name)
            size = os.lstat(path).st_size
            if size >= at_least:
                found.append({"path": path, "size": size})
    found.sort(key=lambda file: (-file["size"], file["path"]))
    return {"verdict": "big_files" if found else "clean", "at_least": at_least, "files": found[:200]}


def ask(ctx: Context) -> Ask:
    files = ctx.outputs["find"]["files"]
    total = sum(file["size"] for file in files)
    table = "\n".join(f"{file['size']:>12,}  {file['path']}" for file in files)
    return Ask(
        title=f"Delete {len(files)} big files?",
        summary=f"They take {total:,} bytes under {PLACE}/. What is deleted is gone.",
        blocks=[preformatted(f"{'bytes':>12}  file\n{table}")],
        subject=files,
    )


def delete(ctx: Context) -> dict[str, Any]:
    """Deletes what the person saw; a file that changed since stays. Doing it twice does no more."""
    deleted, kept = [], []
    for file in ctx.outputs["find"]["files"]:
        path = file["path"]
        if os.path.lexists(path) and os.lstat(path).st_size == file["size"]:
            os.unlink(path)
            deleted.append(path)
        elif os.path.lexists(path):
            kept.append(path)
    return {"deleted": deleted, "changed_since": kept}


INPUT = {
    "type": ["object", "null"],
    "properties": {"at_least": {"type": "integer", "minimum": 0}},
    "additionalProperties": False,
}
"""Any other input is refused before there is a run."""

cleanup = Workflow(
    "cleanup",
    start="find",
    input=INPUT,
    nodes={
        "find": compute(find),
        "ask": human_decision(
            audience="maintainers",
            on_timeout=("keep", 120),
            choices={
                "delete": choice("Delete them", intent="approve"),
                "keep": choice("Keep them", intent="reject"),
            },
            request=ask,
        ),
        "delete": action(delete, effect=idempotent("delete-files")),
        "kept": compute(lambda ctx: {"deleted": [], "files": len(ctx.outputs["find"]["files"])}),
        "clean": compute(lambda ctx: {"deleted": [], "files": 0}),
    },
    edges=[
        switch_edge("find", "$.verdict", {"big_files": "ask", "clean": "clean"}),
        decision_edge("ask", {"delete": "delete", "keep": "kept"}),
    ],
)
