"""What a peer ring is planned from; :mod:`ftplan.planners.peer_ring.prepare` puts it together.

``members`` says who is on the ring and which ring is in place, ``loads`` what key groups weigh, ``failures``
what fails and how probably, ``setting`` what times, memory and traffic follow from.
"""
