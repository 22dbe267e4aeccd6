"""What it costs to replace the tasks of an operator, by the technique that carries its state over.

``active-backup`` and ``checkpoint`` are Algorithms 2 and 3 of [Mudassar2019], ``assisted`` starts tasks where
checkpoints lie ([Madsen2015]). ``costs.py`` has the formulas (pause, core-seconds, bytes) and what they depend on,
``prepare.py`` makes that of options, statistics and recovery costs, ``task_replacement.py`` says which state goes from
where to where.
"""
