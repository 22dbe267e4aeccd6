"""What is demanded of operators: the offers of sources through the topology, and what a task could take of it.

``true_rates.py``, above this folder, is the model of DS2 [Kalavri2018] and Stela's effective throughput percentage
[Xu2016]; ``operator_demand.py`` what each operator has to process in each window; ``usage.py`` puts the statistics of
operators together, with forecasts of their demand.
"""
