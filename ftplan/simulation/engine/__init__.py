"""What every simulation is made of, on SimPy: a clock, nodes with cores to share, links, transfers, series.

``clock`` (control before data), ``processor`` (cores shared max-min fair), ``network`` (links and downlinks),
``queues`` (arrivals, and queues that count records), ``series`` (metrics over time). No word of recoveries.
"""
