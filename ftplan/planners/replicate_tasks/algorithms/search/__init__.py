"""Searches for replicas within a budget.

``growth.py`` grows plans by the densest MC-tree (``completion.py`` finds it for every task at once), takes them apart
and grows them again, ``climbing.py`` does both on a ladder of budgets, so that more is never worse. ``enumeration.py``
looks at all choices of a small job, ``branching.py`` is branch and bound over operators that feed several others, with
a proof.
"""
