"""Answers that were begun: kept per decision while the dashboard is open, so that closing a card loses nothing."""

import msgspec


class Draft(msgspec.Struct, frozen=True):
    """The text typed for each choice that takes one, by the choice's key; the last typed one is the last."""

    texts: tuple[tuple[str, str], ...] = ()

    def text(self, choice: str) -> str:
        return dict(self.texts).get(choice, "")

    def with_text(self, choice: str, text: str) -> "Draft":
        others = tuple((key, value) for key, value in self.texts if key != choice)
        return Draft((*others, (choice, text))) if text else Draft(others)

    @property
    def newest(self) -> str:
        """The text that was typed last; empty without one."""
        return self.texts[-1][1] if self.texts else ""


class Drafts:
    """The drafts of this session by decision."""

    def __init__(self) -> None:
        self._drafts: dict[str, Draft] = {}

    def of(self, decision_id: str) -> Draft:
        return self._drafts.get(decision_id, Draft())

    def keep(self, decision_id: str, draft: Draft) -> None:
        self._drafts[decision_id] = draft

    def drop(self, decision_id: str) -> None:
        """Forgets a draft that was recorded."""
        self._drafts.pop(decision_id, None)

    @property
    def unrecorded(self) -> int:
        """How many decisions have text that was typed and not recorded: quitting would lose it."""
        return sum(1 for draft in self._drafts.values() if draft.texts)
