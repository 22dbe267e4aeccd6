"""Where does the checkpoint of each key group go? ([Madsen2015])

``baseline``, ``even``, ``correlated`` (Algorithm 3, corrected) and ``exact`` are the named planners; ``maintenance``
moves copies in place towards a fresh plan. ``arrays`` is the problem, ``allocation`` the options and the answer.

``rules/`` turns options into limits that can be kept, or says why none can; ``search/`` makes and improves
allocations; ``bounds/`` proves how good they are; ``models/`` closes the gap.
"""
