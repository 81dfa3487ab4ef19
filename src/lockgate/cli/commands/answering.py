"""`answer` and `submit`: a person's decision, and everybody's JSON."""

import sys

import click

from lockgate.cli.call import Call
from lockgate.cli.options import command
from lockgate.cli.people import person, user
from lockgate.cli.receipts import report
from lockgate.cli.repeating import request_of
from lockgate.model.errors import Refused
from lockgate.model.ids import fingerprint
from lockgate.model.records import RequestView
from lockgate.model.statuses import RequestKind

MIN_FINGERPRINT = 12


@command("answer", short_help="Decide, as a person at a terminal.")
@click.argument("decision")
@click.argument("choice")
@click.option("--text", metavar="T", help="The text that goes with the choice.")
@click.option("--digest", metavar="F", help="The fingerprint that you read (12 hex or more): it replaces the question.")
def answer(call: Call, decision: str, choice: str, text: str | None, digest: str | None) -> int:
    """Print the whole DECISION with its fingerprint, have the key of CHOICE typed, and record it."""
    from lockgate.store import commands

    human = person("answer")
    request = request_of(call, decision, "answer")
    if request.kind is not RequestKind.DECISION:
        raise Refused("wrong_kind", f"{request.request_id} is no decision: lockgate submit answers it")
    _check_choice(request, choice)
    if digest is None:
        text = _question(call, request, choice, text)
    else:
        _check_digest(request, digest)
    receipt = call.write(
        lambda tx: commands.answer(
            tx, request.request_id, choice, text=text, digest=request.digest, human=human, key=call.key
        )
    )
    return report(call, receipt)


@command("submit", short_help="Answer a checkpoint or an agent request with JSON.")
@click.argument("request")
@click.option("--output", metavar="JSON|@FILE|-", required=True, help="The answer.")
def submit(call: Call, request: str, output: str) -> int:
    """Check the JSON against the schema of REQUEST and settle it."""
    from lockgate.cli.values import json_value
    from lockgate.model.encoding import MAX_OUTPUT_BYTES
    from lockgate.store import commands

    value = json_value(output, limit=MAX_OUTPUT_BYTES)
    found = request_of(call, request, "submit")
    if found.kind is RequestKind.DECISION:
        raise Refused("wrong_kind", f"{found.request_id} is a decision: lockgate answer decides it")
    submission = call.read(commands.check_submission, found.request_id, value)
    return report(call, call.write(lambda tx: commands.submit(tx, submission, actor=user(), key=call.key)))


def _check_choice(request: RequestView, choice: str) -> None:
    keys = [known["key"] for known in request.choices]
    if choice not in keys:
        raise Refused(
            "invalid_input", f"choice: one of {', '.join(keys)}, got {choice[:80]!r}", field="choice", known=keys
        )


def _check_digest(request: RequestView, digest: str) -> None:
    """What was seen must be what is decided. Raises UsageError for a fingerprint that is too short to tell."""
    given = "".join(digest.split()).lower()
    if len(given) < MIN_FINGERPRINT or set(given) - set("0123456789abcdef"):
        raise click.UsageError(f"--digest takes {MIN_FINGERPRINT} or more hex characters, got {digest[:80]!r}")
    if not request.digest.startswith(given):
        raise Refused(
            "stale",
            f"the decision is {fingerprint(request.digest)}, you saw {given[:12]}: look again",
            digest=request.digest,
            seen=given,
        )


def _question(call: Call, request: RequestView, choice: str, text: str | None) -> str | None:
    """Shows everything, and goes on only when the key of the choice was typed; gives the text."""
    from lockgate.cli.questions import request_text

    call.tell(request_text(request, call.lens()))
    chosen = next(known for known in request.choices if known["key"] == choice)
    then = request.consequences.get(choice)
    call.tell(f"\n{chosen['label']}{f': then {then}' if then else ''}")
    # What was typed or pasted before the question was on the screen is no answer to it.
    _forget_typed_ahead()
    if chosen.get("input") and text is None:
        text = _typed(call, f"{chosen['input']['prompt']} ")
    if text is not None:
        call.tell(f"Your text: {text}")
    if _typed(call, f"Type {choice} to record it: ") != choice:
        raise Refused("not_confirmed", f"{choice} was not typed: nothing is recorded")
    return text


def _typed(call: Call, prompt: str) -> str:
    from lockgate.model.text import clean

    print(clean(prompt), end="", file=sys.stderr, flush=True)
    line = sys.stdin.readline()
    if not line:
        raise Refused("not_confirmed", "the terminal was closed: nothing is recorded")
    return line.rstrip("\r\n")


def _forget_typed_ahead() -> None:
    import termios

    termios.tcflush(sys.stdin.fileno(), termios.TCIFLUSH)
