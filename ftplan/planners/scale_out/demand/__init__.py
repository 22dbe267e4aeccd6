"""What is demanded of operators: the offers of sources through the topology, and what a task could take of it.

``operator_demand.py`` is the model of DS2 [Kalavri2018], what each operator has to process in each window, and Stela's
effective throughput percentage [Xu2016]; ``usage.py`` puts the statistics of operators together, with forecasts of
their demand.
"""
