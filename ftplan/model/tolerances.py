"""How far two numbers may lie apart and still count as equal; all but the last two are relative to their size."""

from __future__ import annotations

#: One quantity computed in two ways differs by less. What exceeds a limit by less keeps it.
ROUNDING = 1e-9
#: The last digits, which the order of a sum decides. A gain that is no larger is none.
NOISE = 1e-12
#: What a solver reports, in numbers that it scaled and rounded, differs by less from what its plan is worth; and so far
#: may a sum on a node, which planners count in units, exceed the node's room.
SOLVED = 1e-6
#: A bound this near to the value, relative to the scale of the gap, is the value: the gap is what solvers and models in
#: whole numbers round away, and the plan is optimal.
PROVEN = 2e-6
#: A figure that a plan states, with 12 digits, differs by less from the figure recomputed.
STATED = 1e-7
#: Least scale of a gap, in the objective's unit: a plan of value 0 has a gap too.
LEAST_SCALE = 1e-9
#: Keeps divisors above 0 without changing any other.
TINY = 1e-300
