"""Storm."""
