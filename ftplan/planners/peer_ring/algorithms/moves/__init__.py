"""From the ring in place to one that is better, with the fewest bytes that travel.

``from_current`` is the planner: ``candidate_orders`` (with ``insertion`` of nodes that join) are rated by ``levels``
(fewest zone violations, then least largest load, then fewest bytes), which also says why there is no ring; ``cuts``
finds for one order the cuts with the fewest bytes, proven, and says what bytes depend on; ``arc_bound`` bounds the
bytes of any order.
"""
