"""The result of a what-if on a page."""

from __future__ import annotations

from ftplan.reports.sections import OtherDocument, Section


def what_if_section(given: OtherDocument) -> Section:
    """Return what is to say of the result of a what-if."""
    raise NotImplementedError(given.format)
