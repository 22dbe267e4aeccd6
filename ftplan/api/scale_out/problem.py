"""From files to the question of a scale-out: how operators were used, what is demanded of them, where there is room."""

from __future__ import annotations
