"""In which order nodes stand on the ring: few neighbours share a zone, and the largest load is least.

- Zones: ``zone_order`` constructs an order without a zone twice among r + 1 neighbours wherever there is one, that is,
  where no zone has more than floor(n / (r + 1)) nodes; else ``windows`` finds orders with the fewest windows that
  have a zone twice.
- Nodes of unequal size: the largest load depends on the order. ``unequal_nodes`` tries the order of zones, a ``beam``
  of partial orders, and all orders by dynamic programming (``every_order``) over ``node_classes``.
"""
