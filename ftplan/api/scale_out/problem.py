"""From files to the question of a scale-out: how operators were used, what is demanded of them, where there is room."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from ftplan.api.other_plans import Copies, checkpoint_copies
from ftplan.api.recovery_costs import GivenCosts
from ftplan.api.scale_out.options import ScaleOutOptions
from ftplan.api.scale_out.room import jobs_of, node_memory, room, task_memory
from ftplan.api.scale_out.unknowns import unknown_warnings
from ftplan.errors import FtplanError
from ftplan.metrics.bottleneck_inputs import (
    MeasuredGroups,
    MeasuredTasks,
    OperatorHistory,
    busy_seconds,
    histories,
    measured_groups,
    measured_tasks,
)
from ftplan.metrics.fuzzy_inference import DEFAULT_RULES, FuzzyRules, reachable, scores
from ftplan.metrics.operator_demand import OperatorDemand, look_back, measured_flows, operator_demand, sized_for
from ftplan.metrics.scaling_effects import lacks_tasks
from ftplan.metrics.scaling_problem import ScalableOperator, ScalingLimits, ScalingProblem
from ftplan.metrics.scaling_states import Thresholds, Timeline, check_thresholds, timeline
from ftplan.metrics.stats_summary import trust_warnings
from ftplan.metrics.task_state import TaskState, task_state
from ftplan.metrics.throughput_percentage import throughput_percentages
from ftplan.model.cluster import Cluster
from ftplan.model.defaults import RESTART_S
from ftplan.model.plan import InputFile, Warn
from ftplan.model.problem import Problem
from ftplan.model.task_graph import TaskGraph
from ftplan.model.topology import FloatArray, Topology
