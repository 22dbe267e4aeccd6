"""``rebalance``: which key groups move where, by which protocol, and in which order, so that no node is overloaded?

Model ([Madsen2015], sections 4 and 7). Each key group g has a load, state, a home and nodes with its checkpoints. A
move takes it to node n by a protocol p: ``cpa`` and ``cpal`` use a checkpoint that lies on n, ``lazy`` and ``direct``
send its state. Moves are made in phases; those of one phase begin together. ::

    min  sum of what the moves cost: pauses (latency), times until they are done (completion), or bytes
    s.t. load[n] <= limit[n] afterwards, or within a tolerance of the fair share; memory; drained nodes are empty;
         copies of a key group apart from each other and from it; budgets of moves, bytes, pauses
         in each phase no node above its limit, though both ends of a cpal move are loaded
         what leaves nodes that will be gone leaves them within their notice

From files to a plan:

- ``kind.py`` is the row, ``options.py`` every option with its default; ``make.py`` leads through what follows.
- ``prepare.py`` and what it calls (``pricing.py``, ``unknowns.py``) make the arrays of
  ``problem.py``. ``migration_costs.py`` has what a move costs by each protocol, with all formulas.
- ``effects.py`` says what moves leave behind, ``migration_phases.py`` what each phase takes, ``rules.py`` which limits
  they break: the checker, for planners, judge and tests alike.
- ``algorithms/`` answers with moves in phases, and with how many nodes to add or to remove.
- ``body.py`` is the body of the plan and writes it, with ``reasons.py`` (why by this protocol) and ``rollback.py``;
  ``metrics.py`` has the figures.

From a plan, without any algorithm: ``from_plan.py`` is the question again, ``judge.py`` with ``judge_body.py``
(verify), ``score.py`` (evaluate), ``explain.py`` with ``candidates.py``, ``diff.py``. Tables
are in ``view.py``, pictures in ``figure.py``.

Proven: ``exact`` finds moves of least cost, or states the gap; ``adaptive`` has the bound of a Lagrangian relaxation
[Geoffrion1974]. The bound does not know phases (``BOUND_WITHOUT_PHASES``). docs/methods/rebalance.md has the reasons
and what the paper's listings get wrong.
"""

#: Modules that other questions may import.
SHARED: tuple[str, ...] = ("options",)
