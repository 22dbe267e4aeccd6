"""Topologies, clusters, statistics and failures made from a few knobs and a seed, as the papers' experiments make them.

Equal knobs give equal results, down to the last bit. What a paper states is drawn from one stream of random numbers;
what is added to it (costs, state, priorities) is drawn from others, so that a knob of the one leaves the other alone.

``generate.py`` is the function and the command; ``knobs.py`` (of topologies) and ``options.py`` have the knobs as
options, ``presets.py`` the settings of experiments. ``topology.py`` (with ``queries.py``), ``cluster.py``,
``failure.py`` and ``stats.py`` (with ``loads.py``) make one kind of document each.
"""
