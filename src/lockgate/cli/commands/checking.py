"""`check` and `graph`: a workflow looked at from outside, before anything is started."""

import click

from lockgate.cli.call import Call
from lockgate.cli.options import command
from lockgate.cli.workflows import called, checked, graph_text, mermaid, takes


@command("check", short_help="Say whether a workflow could be started.")
@click.argument("workflow")
def check(call: Call, workflow: str) -> None:
    """Load WORKFLOW in a child process and check its graph. Nothing is started and nothing is written."""
    found = checked(workflow)
    if call.as_json:
        call.document(
            {
                "schema": "lockgate.check.v1",
                "workflow": found.name,
                "file": str(found.file),
                "project_dir": str(found.project_dir),
                "digest": found.digest,
                "start": found.graph.start,
                "input": found.graph.input,
                "title": found.graph.title,
                "computed": list(found.graph.computed),
                "nodes": list(found.graph.nodes),
                "includes": [
                    {"mount_path": path, "workflow": mount.workflow, "exits": list(mount.exits)}
                    for path, mount in found.graph.mounts.items()
                ],
                "sources": [{"path": path, "sha256": sha256} for path, sha256 in sorted(found.sources.items())],
            }
        )
        return
    nodes, edges = len(found.graph.nodes), len(found.graph.edges)
    call.say(f"{found.name} can be started: {nodes} nodes, {edges} edges, starts at {found.graph.start}")
    call.say(f"file        {found.file}")
    call.say(f"project     {found.project_dir}")
    for path, mount in found.graph.mounts.items():
        call.say(f"include     {path}: {mount.workflow}, left by {', '.join(mount.exits)}")
    for name, says in (("input", takes(found.graph)), ("title", called(found.graph))):
        if says is not None:
            call.say(f"{name:11} {says}")
    for path in sorted(found.sources):
        call.say(f"source      {path}")


@command("graph", short_help="Print a workflow's graph.")
@click.argument("workflow")
@click.option("--format", "form", type=click.Choice(["text", "mermaid"]), default="text", show_default=True)
def graph(call: Call, workflow: str, form: str) -> None:
    """Print the nodes of WORKFLOW and where each leads."""
    found = checked(workflow)
    if call.as_json:
        import msgspec

        definition = msgspec.json.decode(found.document)
        call.document({"schema": "lockgate.graph.v1", "digest": found.digest, "definition": definition})
        return
    call.say(mermaid(found.graph) if form == "mermaid" else graph_text(found.graph))
