"""Answers that were begun: kept per decision while the dashboard is open, so that closing a card loses nothing."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Draft:
    """A picked choice and the text typed for each choice that takes one."""

    choice: str | None = None
    texts: tuple[tuple[str, str], ...] = ()

    def text(self, choice: str) -> str:
        return dict(self.texts).get(choice, "")

    def with_text(self, choice: str, text: str) -> "Draft":
        texts = {**dict(self.texts), choice: text}
        return Draft(self.choice, tuple((key, value) for key, value in texts.items() if value))

    def with_choice(self, choice: str | None) -> "Draft":
        return Draft(choice, self.texts)


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
