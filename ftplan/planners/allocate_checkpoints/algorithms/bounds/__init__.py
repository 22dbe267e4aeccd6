"""Proven bounds: Lagrangian duals and linear relaxations."""
