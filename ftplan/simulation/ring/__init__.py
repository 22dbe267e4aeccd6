"""Does a peer ring lose a record, and how long do take-overs and moves of load take?

The ring is that of [Kumbhare2015], sections V to VII. Mappers with clocks of their own send each record to
the owner of its place on the ring and to the backups, who keep it until the owner's asynchronous incremental
checkpoints cover it. When heartbeats are missed a neighbour takes over and replays; overloaded nodes give load to
neighbours; spares join, nodes leave. Positions are followed in pieces of arcs.

``simulate`` runs a ``scene`` (``layout``: nodes and pieces; ``events``: what happens when). A ``run`` lets the
``world`` go on, with mappers (who sends records, and to whom): ``peer`` (a node: its queue, what it keeps for others),
``copies`` (who holds what of each position), ``checkpoints``, ``membership`` (the ring, and what a change of it makes
nodes do), ``failures``, ``balance``. ``run`` then counts every batch of every position in every copy.

Held against: times, replayed records and copies in closed form; the paper's guarantee that nothing is lost while a copy
is left, under random failures, with protocols that are broken on purpose.
"""
