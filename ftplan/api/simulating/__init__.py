"""Simulations as people ask for them: from files to an answer."""
