"""In which order nodes of unequal size stand on the ring, so that the largest load over the fair share is least."""
