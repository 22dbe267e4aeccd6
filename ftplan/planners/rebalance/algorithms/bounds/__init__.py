"""What moves cost at least."""
