"""In which order nodes stand on the ring, so that few neighbours share a zone."""
