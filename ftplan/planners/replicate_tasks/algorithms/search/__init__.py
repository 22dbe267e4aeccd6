"""MC-trees, units and branching over shared operators."""
