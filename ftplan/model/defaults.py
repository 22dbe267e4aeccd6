"""Values that several questions assume unless they are asked otherwise. Importing this loads nothing else."""

from __future__ import annotations

#: Share of a node's cores that plans may use.
MAX_CPU = 0.8
#: Utilisation above which a node is overloaded.
OVERLOAD = 0.85
