"""``ftplan doctor``: what it finds, also where much is broken."""
