"""Playing a recovery schedule against an incident, independently of who planned it.

``replay.py`` plays the steps as they stand and notes faults (``step_entries.py``: may these tasks start or pause,
there, now?); ``outcome.py`` plays what is left of a plan when failures and arrivals differ, and values it. Both keep
the state of the cluster in ``repair.py`` and what is down since when in ``outages.py``.
"""
