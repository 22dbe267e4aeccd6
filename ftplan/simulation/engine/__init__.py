"""What every simulation is made of, on SimPy: a clock, nodes with cores to share, links, transfers, series.

``clock`` (control before data), ``processor`` (cores shared max-min fair), ``network`` (links and downlinks),
``queues`` (that count records), ``sources`` (arrivals), ``series`` (metrics over time). No word of recoveries.
"""
