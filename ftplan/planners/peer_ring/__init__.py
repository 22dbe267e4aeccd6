"""``peer-ring``: which tokens do nodes get on a ring, so that load is even and failures lose nothing?

Model ([Kumbhare2015], V to VII). Key group g of an operator with G key groups lies at position g / G of a circle. A
node owns the positions from its token up to the next one, and the next r nodes clockwise hold copies. Lexicographic::

    min  (arcs whose r + 1 holders are all in one zone,
          arcs of which two of the r + 1 holders share a zone,
          max_i load[i] / fair[i],  fair[i] in proportion to the cpu that is free,
          bytes that travel from the ring in place,
          max_i load[i] / fair[i]  where ``--target-load`` allowed more,
          sum_i load[i]^2 / cpu[i])                          s. t.  room of nodes that take load, ``--max-bytes``

Data is lost exactly where all r + 1 holders of an arc fail. With ``--tier`` the last copy lies on nodes that hold
nothing else ([Cidon2015]).

From files to a plan:

- ``kind.py`` is the row, ``options.py`` has every option with its default; ``make.py`` leads through what follows.
- ``prepare.py`` makes the arrays of ``problem.py`` from ``inputs/``: members, the ring in place, loads, failures,
  times.
- ``ring.py`` is the circle and how it changes; ``moves.py`` and ``steps.py`` what that moves;
  ``negotiation.py`` who asks whom for help (also in simulations); ``repair_window.py`` how likely failures are in one.
- ``algorithms/`` answers with a ring and the steps to it.
- ``body.py`` is the body of the plan and writes it, with ``survival/`` (which failures lose what, and how likely) and
  ``takeover/`` (who takes over, when, at what cost); ``metrics.py`` and ``summary.py`` have the figures.

From a plan, without any algorithm: ``from_plan.py`` is the question again, ``rules.py`` the checker, ``judge.py`` with
``judge_body.py`` (verify), ``score.py`` (evaluate), ``explain.py`` with ``explain_nodes.py`` and
``alternative_tokens.py``, ``diff.py``. Tables are in ``view.py`` and ``view_failures.py``, pictures in ``figure.py``.

Proven: exact states a bound of each level but the last, and is optimal where all are met; an order with no zone twice
among r + 1 neighbours, or none that a zone destroys, is found wherever there is one. Any r failures lose nothing; at
best floor(n r / (r + 1)) nodes may fail. Probabilities of loss are exact, between proven bounds, or an interval.
docs/methods/peer-ring.md has the reasons.
"""

#: Modules that other questions may import.
SHARED: tuple[str, ...] = ()
