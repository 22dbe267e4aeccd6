"""Which failures a peer ring survives, and how likely a loss is ([Kumbhare2015], VII and the appendix).

A *copyset* is a set of nodes that holds all copies of some key group: data is lost exactly where a copyset is down.

- ``tolerance`` is the document ``tolerance`` of a plan: the fewest nodes and zones whose loss is fatal (``copysets``),
  the largest set of nodes that may fail together (exact on a ring with one token a node: n r / (r + 1), rounded
  down), what a single loss leaves.
- ``survival`` is the probability of a loss in one repair window: around the circle for one token a node, else over
  copysets (enumerated, branched on, bounded or sampled by ``set_bounds``), in each
  state of the zones (``zone_states``). Each answer is exact, or between proven bounds, or an interval.
"""
