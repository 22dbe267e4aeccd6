"""From the ring in place to one that is better, with the fewest bytes that travel."""
