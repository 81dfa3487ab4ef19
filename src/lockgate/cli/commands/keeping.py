"""`audit`, `doctor`, `backup`, `prune`, `policy`, `migrate` and `init`: how a store is made, checked and kept."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from lockgate.cli import exits
from lockgate.cli.call import Call
from lockgate.cli.options import command, common
from lockgate.cli.people import person, user

if TYPE_CHECKING:
    from lockgate.store.audit import Audit
    from lockgate.store.audit_chain import Difference

_FILE = click.Path(dir_okay=False, path_type=Path)


@command("audit", short_help="Prove a run against its own events.")
@click.argument("run")
@click.option("--receipt", metavar="FILE", type=_FILE, help="Also check a receipt that was kept elsewhere.")
def audit(call: Call, run: str, receipt: Path | None) -> int:
    """Link RUN's chain again, hash its values, compare every row with its events, and print each decision's receipt."""
    from lockgate.cli.keeping import audit_document, audit_lines, kept_receipts
    from lockgate.store.audit import LIMIT, PRUNED_LIMIT, audit, audited_run_id, check_receipt

    text = receipt.read_bytes() if receipt is not None else None
    run_id = call.read(audited_run_id, run)
    kept = kept_receipts(text, run_id) if text is not None else []

    def look(connection: Any) -> "tuple[Audit, Difference | None]":
        audited = audit(connection, run_id)
        found = (check_receipt(connection, each, audited) for each in kept)
        return audited, next((difference for difference in found if difference is not None), None)

    audited, differs = call.read(look)
    checked = len(kept) if text is not None else None
    limit = f"{LIMIT} {PRUNED_LIMIT}" if audited.is_pruned else LIMIT
    if call.as_json:
        call.document(audit_document(audited, checked, differs, limit))
    else:
        call.say("\n".join(audit_lines(audited, checked, differs, limit)))
    return exits.OK if audited.difference is None and differs is None else exits.FAILURE


@command("doctor", short_help="Look for what is wrong with the store; repair nothing.")
@click.option("--all", "every_run", is_flag=True, help="Compare every run with its events, however long it takes.")
def doctor(call: Call, every_run: bool) -> int:
    """Look at the store from every side. Each finding says what can safely be done. Exit 1 if there is one."""
    from lockgate.cli.keeping import doctor_document, doctor_lines
    from lockgate.host.processes import is_alive
    from lockgate.store.doctor import examine

    checkup = examine(call.db, every_run=every_run, is_alive=is_alive)
    if call.as_json:
        call.document(doctor_document(checkup))
    else:
        call.say("\n".join(doctor_lines(checkup)))
    return exits.FAILURE if checkup.findings else exits.OK


@command("backup", short_help="Copy the store while it is used, or verify a copy.")
@click.argument("file", required=False, type=_FILE)
@click.option("--verify", metavar="FILE", type=_FILE, help="Drill a copy that nobody uses, whole: would it restore?")
def backup(call: Call, file: Path | None, verify: Path | None) -> int:
    """Copy the store into FILE (default: beside it, named by the time), private and verified; never overwrites."""
    from lockgate.cli.keeping import backup_document, counted, drill_document, drill_lines

    if verify is not None:
        if file is not None:
            raise click.UsageError("--verify takes the copy to look at; no other FILE belongs to it")
        from lockgate.store.drill import drill

        drilled = drill(verify, call.db)
        if call.as_json:
            call.document(drill_document(drilled))
        else:
            call.say("\n".join(drill_lines(drilled)))
        return exits.FAILURE if drilled.problems else exits.OK
    from lockgate.store.backup import back_up

    made = back_up(call.db, file)
    if call.as_json:
        call.document(backup_document(made))
    else:
        held = ", ".join(counted(made.contents.counts[f"{noun}s"], noun) for noun in ("run", "event"))
        call.say(f"{made.path}: {made.size} bytes, {held}, verified")
    return exits.OK


@command("prune", short_help="Let old finished runs go; without --apply only say which.")
@click.option("--older-than", metavar="30d", default="30d", help="Ended longer ago than this. Default: 30d.")
@click.option("--with-decisions", is_flag=True, help="Also runs with an accepted human decision.")
@click.option("--apply", "apply_it", is_flag=True, help="Do it; needs --backup.")
@click.option("--backup", "backup_to", metavar="FILE", type=_FILE, help="The new backup that is made first.")
def prune(call: Call, older_than: str, with_decisions: bool, apply_it: bool, backup_to: Path | None) -> int:
    """List whole trees of finished runs (a root and its restarts) that can go, and what keeps the others."""
    from lockgate.cli.keeping import duration_ms, plan_lines, prune_document, pruned_lines
    from lockgate.store.prune import plan, prune

    if apply_it != (backup_to is not None):
        raise click.UsageError("--apply needs --backup FILE" if apply_it else "--backup belongs to --apply")
    try:
        cutoff = call.now().wall_ms - duration_ms(older_than)
    except ValueError as problem:
        raise click.BadParameter(str(problem), param_hint="--older-than") from None
    planned = call.read(lambda connection: plan(connection, cutoff, with_decisions=with_decisions))
    done = None
    if backup_to is not None:
        done = prune(call.db, cutoff, backup_to, actor=user(), with_decisions=with_decisions)
    if call.as_json:
        call.document(prune_document(str(call.db), planned, done))
        return exits.OK
    call.say("\n".join(plan_lines(planned)))
    if done is not None:
        call.say("\n".join(pruned_lines(done)))
    elif planned.trees:
        call.say("nothing was changed: --apply --backup FILE does it")
    return exits.OK


@click.group("policy", short_help="Who may answer an audience's decisions.")
@common
def policy() -> None:
    """Say who may answer the decisions of an audience, and whether a starter may approve."""


@command("set", short_help="Set the policy of an audience, as a person at a terminal.")
@click.argument("audience")
@click.option("--users", metavar="A,B", help="Only these login names. Default: whoever can write the store.")
@click.option(
    "--self-approval",
    type=click.Choice(["yes", "no"]),
    default="yes",
    help="Whether who started a run may approve in it. Default: yes.",
)
def set_policy(call: Call, audience: str, users: str | None, self_approval: str) -> None:
    """Set the policy of AUDIENCE for decisions that are asked from now on; those that wait keep theirs."""
    from lockgate.cli.keeping import policies_document, policy_rows
    from lockgate.store import policies

    human = person("policy set")
    names = [name.strip() for name in users.split(",")] if users is not None else None
    made = call.write(
        lambda tx: policies.set_policy(tx, audience, users=names, self_approval=self_approval == "yes", human=human)
    )
    if call.as_json:
        call.document(policies_document([made]))
        return
    ((name, who, approval, *_),) = policy_rows([made])
    call.say(f"{name}: {who} may answer; approving what one started: {approval}")


@command("show", short_help="List the policies in force.")
@click.argument("audience", required=False)
def show_policy(call: Call, audience: str | None) -> None:
    """List the policies, or that of AUDIENCE. Without one, whoever can write the store may answer."""
    from lockgate.cli.keeping import policies_document, policy_rows
    from lockgate.cli.tables import table
    from lockgate.store import policies

    found = [view for view in call.read(policies.policies) if audience in (None, view.policy.audience)]
    if call.as_json:
        call.document(policies_document(found))
    elif found:
        call.say(table(("audience", "users", "self-approval", "set by", "set at"), policy_rows(found)))
    else:
        of = f" for {audience}" if audience is not None else ""
        call.say(f"No policy{of}: whoever can write the store may answer, who started the run too.")


policy.add_command(set_policy)
policy.add_command(show_policy)


@command("migrate", short_help="Bring the store to this version's schema.")
@click.option("--backup", "backup_to", metavar="FILE", type=_FILE, help="Where the backup goes. Default: beside it.")
def migrate(call: Call, backup_to: Path | None) -> None:
    """Bring an older store to the schema of this version: after a verified backup, in one step, never under a host."""
    from lockgate.host.processes import is_alive
    from lockgate.store.migrations import migrate

    done = migrate(call.db, backup_to=backup_to, is_alive=is_alive)
    changed = done.backup is not None
    if call.as_json:
        call.document(
            {
                "schema": "lockgate.migrate.v1",
                "store": done.path,
                "before": done.before,
                "schema_version": done.after,
                "changed": changed,
                "backup": done.backup.path if done.backup is not None else None,
            }
        )
    elif done.backup is not None:
        call.say(f"{done.path} had schema {done.before} and has {done.after}; the backup is {done.backup.path}")
    else:
        call.say(f"{done.path} has schema {done.after} already")


@command("init", short_help="Make a store, and a first workflow file here.")
@click.option("--shared", metavar="GROUP", help="A store that the members of this operating-system group share.")
def init(call: Call, shared: str | None) -> None:
    """Make the store unless it is there, and .lockgate/workflows/hello.py in this directory."""
    from lockgate.demo.first_file import write_first_workflow

    if shared is not None:
        from lockgate.store.sharing import closed_ancestor, make_shared

        made_store = make_shared(call.db, shared)
        closed = closed_ancestor(call.db, shared)
        if closed is not None:
            call.tell(f"the group {shared} cannot pass {closed}: give them a way through, or put the store elsewhere")
    else:
        made_store = not call.db.exists()
        call.write(lambda tx: None, create=made_store)
    workflow, made_workflow = write_first_workflow(Path.cwd())
    if call.as_json:
        call.document(
            {
                "schema": "lockgate.init.v1",
                "store": str(call.db),
                "made_store": made_store,
                "shared_group": shared,
                "workflow": str(workflow),
                "made_workflow": made_workflow,
            }
        )
        return
    of = f", shared with the group {shared}" if shared is not None else ""
    call.say(f"{'made' if made_store else 'found'} the store {call.db}{of}")
    call.say(f"{'made' if made_workflow else 'found'} the workflow {workflow}")
    call.say("next: lockgate start hello, lockgate host, lockgate")
