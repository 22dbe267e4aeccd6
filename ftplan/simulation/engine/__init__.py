"""What every simulation is made of, on SimPy: a clock, nodes with cores to share, links, transfers, series."""
