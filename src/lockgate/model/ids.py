"""The grammar of ids, and the rules by which ids follow from what they name.

Random ids take their randomness as an argument: this room has none of its own.
"""

import re
import unicodedata

from lockgate.model.encoding import canonical, sha256
from lockgate.model.errors import Refused

RUN_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,199}")
NODE_ID = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,127}")
WORKFLOW_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,79}")
EFFECT_TYPE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:-]{0,127}")
ATTEMPT_ID = re.compile(r"attempt-[0-9a-f]{1,32}")
UPDATE_ID = re.compile(r"update-[0-9a-f]{1,32}")
UPDATE_TYPE = re.compile(r"[a-z][a-z0-9.-]{0,63}")
ROOT_MOUNT = "$root"
WORD = re.compile(r"[a-z][a-z0-9_.-]{0,63}")
ACTOR_ID = re.compile(r"[^\x00-\x1f\x7f-\x9f\ud800-\udfff]{1,128}")
UPDATE_KEY = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:/-]{0,127}")
KEY = re.compile(r"[\x21-\x7e]{1,200}")


def match(grammar: re.Pattern[str], text: str, what: str) -> str:
    """`text` in NFC if it fits the whole grammar, else Refused `invalid_id` naming what and the value."""
    normal = unicodedata.normalize("NFC", text)
    if grammar.fullmatch(normal) is None:
        raise Refused(
            "invalid_id",
            f"{what} must match {grammar.pattern}, got {text[:80]!r}",
            what=what,
            given=text[:200],
        )
    return normal


def run_id(stamp: str, workflow: str, random_hex: str) -> str:
    """`stamp` is a compact UTC time (20261129T140211Z), `random_hex` at least 8 lower-case hex digits."""
    safe = re.sub(r"[^A-Za-z0-9._-]", "-", workflow)[:80]
    return f"{stamp}-{safe}-{random_hex[:8]}"


def short_id(run: str) -> str:
    """The last 8 characters of a run id: hex by construction for ids that we made."""
    return run[-8:]


def attempt_id(random_hex: str) -> str:
    return f"attempt-{random_hex[:32]}"


def update_id(random_hex: str) -> str:
    return f"update-{random_hex[:32]}"


def request_id(run: str, attempt: str) -> str:
    return "request-" + sha256(canonical([run, attempt]))[:40]


def decision_id(run: str, node: str, attempt: str, request_digest: str) -> str:
    return "decision-" + sha256(canonical([run, node, attempt, request_digest]))[:40]


def submission_id(request: str, key: str) -> str:
    return "submission-" + sha256(canonical([request, key]))[:40]


def scope_id(run: str, mount_path: str = ROOT_MOUNT, invocation: int = 1) -> str:
    """The settings scope of the root workflow, or of one invocation of an included one."""
    return f"{run}:{mount_path}:{invocation}"


def scope_name(mount_path: str, invocation: int) -> str:
    """How people name a settings scope: `review#2`; the root has one invocation only."""
    return mount_path if mount_path == ROOT_MOUNT else f"{mount_path}#{invocation}"


def effect_id(run: str, effect_type: str, node: str, visit: int) -> str:
    """The attempt is not part of it: a lost attempt must find the effect that it may have caused."""
    return "effect-" + sha256(canonical([run, effect_type, node, visit]))[:40]


def restart_run_id(source: str, revision: int, workflow: str, stamp: str) -> str:
    """One child per source run, so that a repeated restart names the same run."""
    return run_id(stamp, workflow, sha256(canonical([source, revision]))[:8])


def fingerprint(digest: str) -> str:
    """What people compare: the first 12 hex of a request digest."""
    return digest[:12]
