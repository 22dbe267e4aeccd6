"""What several questions measure, as functions of arrays.

- From statistics: ``key_group_series`` and ``measured_tasks`` (tables as matrices), ``measured_rates``,
  ``measured_topology``, ``task_costs``, ``task_state``, ``key_group_demand``, ``node_load``, ``correlation``
  ([Madsen2015]), ``stats_summary``.
- Of failures: ``recovery_time`` (one function for fitting, planning and judging), ``restart_times``, ``downtimes``,
  ``fidelity`` ([SuZhou2016]), ``availability``, ``loss_probability``.
- Of plans: ``planned_copies`` (and what survives of them), ``replica_hosts``, ``zone_traffic``.
"""
