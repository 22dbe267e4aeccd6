"""How often to rescale: the cheapest schedule that a trace of demand allows, and policies that do not know it."""
