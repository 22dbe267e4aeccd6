"""The places that pages name, such as http://jobmanager:8081, and what stands in for them here."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass
class Places:
    """What stands in a page, and where it is in a test."""

    known: dict[str, str] = field(default_factory=dict)

    def reachable(self, command: str) -> str:
        """Return a command that asks what stands in for the places in it."""
        for written, here in self.known.items():
            command = command.replace(written, here)
        return command

    def as_written(self, text: str) -> str:
        """Return what was printed with the names that the page has."""
        for written, here in self.known.items():
            text = text.replace(here, written)
        return text
