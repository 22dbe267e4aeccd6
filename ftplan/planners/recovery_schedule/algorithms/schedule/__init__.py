"""From steps to a schedule: failures and arrivals in order of time, tasks on nodes.

``construction.py`` walks through the decision points. At each ``repair_state.py`` says what is down and free, a
policy (``policy.py``) decides, and ``packing.py`` places it: ``node_assignment.py`` one by one ([SuZhouTR], section
5), ``exact_packing.py`` where that fails, ``choose_and_pack.py`` with other queries where the nodes cannot hold
these. ``downtime.py`` keeps what is down since when.

``baselines.py`` are blocking recovery and random orders, which no answer is worse than; ``score.py`` values a
schedule by the objectives over time, and ``arrival_replay.py`` does when nodes arrive at other times than planned.
"""
