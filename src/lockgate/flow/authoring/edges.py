"""How authors connect nodes. A node has at most one outgoing edge; one without ends the run."""

from collections.abc import Mapping

from lockgate.flow.graph import Edge, Switch
from lockgate.flow.switches import MAX_SWITCH_CHARS, PATH
from lockgate.model.errors import DefinitionError

CHOICE = "$.choice"
"""What a decision's edge switches on."""


def edge(source: str, target: str) -> Edge:
    """Leads on when `source` ended ok."""
    _name(source, "the source of an edge")
    return Edge(source=source, to=_name(target, f"the target of the edge from {source!r}"))


def switch_edge(source: str, on: str, cases: Mapping[str, str]) -> Edge:
    """Leads on by the string form of one scalar: `$.a` or `$output.a` of the output, `$result.outcome`.

    After an outcome other than ok only a `$result.` switch leads on. A value without a case fails the run.
    """
    _name(source, "the source of an edge")
    if not isinstance(on, str) or PATH.fullmatch(on) is None:
        raise DefinitionError(f"the switch of the edge from {source!r} must match {PATH.pattern}, got {on!r}")
    return Edge(source=source, switch=Switch(on=on, cases=_cases(source, cases)))


def decision_edge(source: str, cases: Mapping[str, str]) -> Edge:
    """Leads on by a human decision's choice; it has exactly one case for each choice."""
    _name(source, "the source of an edge")
    return Edge(source=source, switch=Switch(on=CHOICE, cases=_cases(source, cases)))


def _cases(source: str, cases: Mapping[str, str]) -> dict[str, str]:
    if not isinstance(cases, Mapping) or not cases:
        raise DefinitionError(f"the edge from {source!r} needs cases")
    for case, target in cases.items():
        if not isinstance(case, str):
            raise DefinitionError(f"the cases of the edge from {source!r} are texts, got {case!r}")
        if len(case) >= MAX_SWITCH_CHARS:
            raise DefinitionError(f"a case of the edge from {source!r} has {len(case)} characters, at most 199")
        _name(target, f"case {case!r} of the edge from {source!r}")
    return dict(cases)


def _name(value: str, what: str) -> str:
    if not isinstance(value, str) or not value:
        raise DefinitionError(f"{what} must be a node id, got {value!r}")
    return value
