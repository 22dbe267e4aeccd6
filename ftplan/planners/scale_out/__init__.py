"""``scale-out``: which operator is, or will be, a bottleneck, and how many tasks does it get, where and how?

Model ([Mudassar2019], [Kalavri2018]). Fuzzy rules score the worst task of each operator from 0 to 100, window by
window: above the alarming threshold it is prepared, above the next it is split. A task that waits processes little, so
rates count the time of work alone::

    true rate = records / seconds busy          demand = what sources offer, through the selectivities before
    use(range of key groups) = their demand / true rate, which a task sustains up to the target

    max  sustained share of all demand, then min cores, then min changes
    s.t. old and new tasks side by side fit into free cores, quota and nodes; state that a task may hold;
         the nodes' slots; at most --max-parallelism; pauses within --latency-budget

From files to a plan:

- ``kind.py`` is the row, ``options.py`` every option with its default; ``make.py`` leads through what follows.
- ``prepare.py`` and what it calls (``room.py``, ``unknowns.py``) make the arrays of ``problem.py``:
  ``bottlenecks/`` has scores and states, ``demand/`` how operators were used and what is demanded of them,
  ``forecasting/`` how that goes on, ``techniques/`` what replacing tasks costs.
- ``problem.py`` also says what parallelism and key ranges mean; ``parallelism.py`` cuts key groups into the best
  ranges [Pinar2004], and says which numbers of tasks are worth a look; ``rules.py`` is the checker.
- ``algorithms/`` answers: parallelism, nodes, techniques, the alarming threshold.
- ``body.py`` is the body of the plan and writes it. ``metrics.py`` has its figures, reasons and steps, and the fairness
  degree, ``summary.py`` what is said of the whole, with ``churn.py`` (how often to rescale) and ``key_log.py`` (the
  best max parallelism for the keys of a log).

From a plan, without any algorithm: ``from_plan.py`` is the question again, ``judge.py`` (verify), ``score.py``
(evaluate), ``explain.py``, ``diff.py``. Tables are in ``view.py``, pictures in ``figure.py``.

Proven: ranges are the best of their number; ``exact`` sustains most, or states the gap; no policy rescales more
cheaply than the optimum that knows all demand. docs/methods/scale-out.md has the reasons and what is ours.
"""

#: Modules that other questions may import.
SHARED: tuple[str, ...] = ()
