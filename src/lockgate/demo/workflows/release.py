"""Release: run the project's tests, write notes from the git log, ask a person, then tag."""

import subprocess
from typing import Any

from lockgate import (
    Ask,
    Context,
    Workflow,
    bullets,
    choice,
    compute,
    decision_edge,
    edge,
    fields,
    human_decision,
    idempotent,
    manual,
    notify,
    paragraph,
    section,
    shell,
    text_input,
)

HOUR = 3600


def git(*arguments: str) -> str:
    """What a git command in the project directory prints."""
    ran = subprocess.run(["git", *arguments], check=True, capture_output=True, text=True)
    return ran.stdout.strip()


def write_notes(ctx: Context) -> dict[str, Any]:
    """The notes of the next release; a reviewer who asked for a change finds the words at their top."""
    last = git("describe", "--tags", "--abbrev=0")
    major, minor = last.removeprefix("v").split(".")[:2]
    log = git("log", "--reverse", "--pretty=%s", f"{last}..HEAD")
    answer = ctx.outputs.get("approve") or {}
    return {
        "version": f"v{major}.{int(minor) + 1}.0",
        "after": last,
        "commit": git("rev-parse", "HEAD"),
        "foreword": answer.get("input", {}).get("instructions", ""),
        "changes": log.splitlines() or ["No changes."],
    }


def ask(ctx: Context) -> Ask:
    notes = ctx.outputs["notes"]
    blocks: list[Any] = [section("Changes"), bullets(notes["changes"])]
    if notes["foreword"]:
        blocks = [section("Foreword"), paragraph(notes["foreword"]), *blocks]
    return Ask(
        title=f"Publish {notes['version']}?",
        summary=f"The tests passed. Publishing makes the git tag {notes['version']}.",
        blocks=[
            *blocks,
            section("What is tagged"),
            fields({"version": notes["version"], "commit": notes["commit"], "since": notes["after"]}),
        ],
        subject=notes,
    )


def tag(ctx: Context) -> list[str]:
    """Tags exactly the commit that the reviewer saw, whatever was committed since."""
    notes = ctx.outputs["notes"]
    return ["git", "tag", "--annotate", notes["version"], notes["commit"], "--file", "-"]


def tag_message(ctx: Context) -> str:
    notes = ctx.outputs["notes"]
    lines = [notes["version"], "", *([notes["foreword"], ""] if notes["foreword"] else [])]
    return "\n".join([*lines, *(f"- {change}" for change in notes["changes"])]) + "\n"


release = Workflow(
    "release",
    start="test",
    nodes={
        "test": shell(["{python}", "-m", "unittest"], effect=idempotent("tests"), timeout=600),
        "notes": compute(write_notes),
        "approve": human_decision(
            audience="maintainers",
            on_timeout=("stop", HOUR),
            choices={
                "publish": choice("Publish", intent="approve"),
                "revise": choice(
                    "Change the notes",
                    input=text_input("instructions", "What should the notes say first?", max_length=2000),
                ),
                "stop": choice("Stop here", intent="reject"),
            },
            request=ask,
        ),
        "publish": shell(tag, stdin=tag_message, effect=manual("git-tag"), timeout=60),
        "announce": notify(lambda ctx: f"{ctx.outputs['notes']['version']} is published"),
        "stopped": compute(lambda ctx: {"status": "stopped"}),
    },
    edges=[
        edge("test", "notes"),
        edge("notes", "approve"),
        decision_edge("approve", {"publish": "publish", "revise": "notes", "stop": "stopped"}),
        edge("publish", "announce"),
    ],
)
