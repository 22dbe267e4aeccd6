"""Output fidelity as circuits, tables and integer programs."""
