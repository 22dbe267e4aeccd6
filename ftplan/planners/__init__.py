"""The questions that ftplan answers, one folder each, named like its command.

A folder has its kind, options, problem, rules, algorithms, judge, words and pictures; its ``__init__`` tells the story.
What they share lies here, by step of the way:

- The question: ``kind.py`` is what is known of one, ``registry.py`` finds its algorithms by name.
- The inputs: ``situation.py`` collects them once (``assumptions.py``: what no input says), with ``failures.py``,
  ``deployed.py`` (plans that are inputs of others) and ``named_nodes.py``.
- The search: ``budget.py`` is the time and work that there is, ``interrupts.py`` runs solvers within it, ``result.py``
  is what an algorithm answers; ``fidelity_circuit/`` bounds output fidelity, ``fillable.py`` sums of cores, and
  ``priced_bound.py`` linear programs at any prices.
- The plan: ``making.py`` frames it, ``views.py`` has what tables of several questions share.
- Judging: ``plan_inputs.py`` finds what a plan was made from, ``judging.py`` checks what every plan states,
  ``scenarios.py`` weighs alternatives, ``assessments.py`` is what verify, evaluate, explain and diff answer.
"""
