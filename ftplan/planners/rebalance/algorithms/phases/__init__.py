"""From moves to phases in which no node is too full, and which end within the notice of nodes that will be gone.

``phasing.py`` is the entry: as few phases as the limits allow, hot groups first, move by move where nothing else helps.
``backlog.py`` is what is left to phase and a phase that is being filled, ``simultaneous.py`` the moves that are safe
only together (cycles of full nodes), ``notice.py`` with ``departures.py`` what leaves in time and what is recovered
instead, ``front.py`` what smaller and larger phases would bring.
"""
