"""Who is a bottleneck: scores by fuzzy inference, and the states that follow from them over time [Mudassar2019].

``histories.py`` has how the tasks of each operator were used, window by window, and whether it is normal, prepared,
promoted or to be scaled in then (Algorithm 1); ``fuzzy_inference.py`` makes a score of cpu, memory and waiting data
(Mamdani, centre of gravity) by rules in the language of ``fuzzy_rules.py``, which ``rules_file.py`` reads. The paper
gives neither labels nor rules: those in ``bottleneck_rules.yaml`` are ours.
"""
