"""Names of an engine as identifiers: see :mod:`ftplan.model.slugs`."""

from __future__ import annotations

from ftplan.model.slugs import LONGEST_ID, listed, slug, slugs

__all__ = ["LONGEST_ID", "listed", "slug", "slugs"]
