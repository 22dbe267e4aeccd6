A schedule for Storm, and what Flink can be told of it.

  $ ftplan recovery-schedule -t topology.yaml -c cluster.yaml --fail zone:b --algorithm exact -o plan.json -q
  $ ftplan export-plan plan.json --to storm --host-map n5=worker-5.example.org -q
  # From a recovery schedule by exact (optimal).
  # ENGINE_LIMITS: storm cannot be told which supervisor runs which task, nor in which order tasks come back:
  #   ftplan.component.supervisors is for people and for a scheduler of your own; nor which keys a task gets
  # With the isolation scheduler, which can only be told how many machines, Nimbus's storm.yaml takes
  #   isolation.scheduler.machines: {TOPOLOGY: 4}.
  topology.scheduler.strategy: org.apache.storm.scheduler.resource.strategies.scheduling.ConstraintSolverStrategy
  topology.scheduler.favored.nodes:
  - worker-5.example.org
  - n6
  topology.scheduler.unfavored.nodes:
  - n3
  - n4
  topology.ras.constraints:
    sessions:
      maxNodeCoLocationCnt: 2
      incompatibleComponents: []
  ftplan.component.supervisors:
    sessions:
      worker-5.example.org:
      - 0
      n6:
      - 1
  ftplan.recovery.order:
  - sessions/0
  - sessions/1
  $ ftplan export-plan plan.json --to flink
  # From a recovery schedule by exact (optimal).
  # ENGINE_LIMITS: flink cannot be told on which TaskManager a task runs or a copy of its state lies, in which
  #   order tasks restart, which key groups a task has, nor active replicas of tasks: it has none
  # STATE_BOUND: pipeline.max-parallelism: state of another max parallelism cannot be restored: it holds for jobs
  #   that start without state
  # Flink restarts the failed regions at once, in an order of its own; the plan's order:
  # Advisory, 0 s: sessions/0 on n5, sessions/1 on n6.
  # Advisory, 200 s: nothing can start.
  # Advisory, 280 s: nothing can start.
  # In code, operator alerts: .setMaxParallelism(4), and .uid("alerts").
  # In code, for slots of sessions alone:
  #   SlotSharingGroup.newBuilder("sessions").setCpuCores(1).setTaskHeapMemoryMB(…).build(), with
  #   cluster.fine-grained-resource-management.enabled: true.
  pipeline.max-parallelism: 8
  jobmanager.execution.failover-strategy: region
  2> ftplan: warning: flink cannot be told on which TaskManager a task runs or a copy of its state lies, in which order tasks restart, which key groups a task has, nor active replicas of tasks: it has none [ENGINE_LIMITS]
  2> ftplan: warning: pipeline.max-parallelism: state of another max parallelism cannot be restored: it holds for jobs that start without state [STATE_BOUND]
  $ ftplan export-plan plan.json --to csv -q
  step,at_s,trigger,operator,index,node,capacity,caught_up_s,cpu,global_rollback,objective.bound,objective.gap,objective.name,objective.scale,objective.sense,objective.value,prefetch,ready_s,restored,used
  0,0.0,failure,sessions,0,n5,6.8,0.0,1.0,true,2.0,0.0,priority,2.0,max,2.0,false,0.0,alerts/0;alerts/1,2.0
  0,0.0,failure,sessions,1,n6,6.8,0.0,1.0,true,2.0,0.0,priority,2.0,max,2.0,false,0.0,alerts/0;alerts/1,2.0
  1,200.0,arrival:new-1,,,,8.0,,,false,0.0,0.0,priority,1e-09,max,0.0,,,,0.0
  2,280.0,arrival:new-2,,,,11.2,,,false,0.0,0.0,priority,1e-09,max,0.0,,,,0.0

Standbys for Kubernetes.

  $ ftplan replicate-tasks -t topology.yaml -c cluster.yaml --budget 3 --algorithm structure-aware -o replicas.json -q
  $ ftplan export-plan replicas.json --to kubernetes --workload sessions=Deployment/spare
  # From a task replication by structure-aware (optimal).
  # ENGINE_LIMITS: kubernetes cannot be told which pod runs which task: the pods of a workload are alike, so that
  #   one task and its own replica cannot be kept apart where others of the operator may meet; nor anything about
  #   pods that run already
  # NOT_APART: standbys and active tasks of sessions share nodes in the plan: apart by preference only
  # Label the pods of active tasks app.kubernetes.io/component: OPERATOR and ftplan/role: active.
  # kubectl patch KIND NAME --patch-file FILE takes one document at a time; kustomize takes all of them.
  ---
  apiVersion: apps/v1
  kind: StatefulSet
  metadata:
    name: alerts-standby
  spec:
    replicas: 1
    template:
      metadata:
        labels:
          app.kubernetes.io/component: alerts
          ftplan/role: standby
      spec:
        affinity:
          nodeAffinity:
            requiredDuringSchedulingIgnoredDuringExecution:
              nodeSelectorTerms:
              - matchExpressions:
                - key: kubernetes.io/hostname
                  operator: In
                  values:
                  - n3
          podAntiAffinity:
            requiredDuringSchedulingIgnoredDuringExecution:
            - labelSelector:
                matchLabels:
                  app.kubernetes.io/component: alerts
                  ftplan/role: active
              topologyKey: topology.kubernetes.io/zone
        topologySpreadConstraints:
        - maxSkew: 1
          topologyKey: topology.kubernetes.io/zone
          whenUnsatisfiable: DoNotSchedule
          labelSelector:
            matchLabels:
              app.kubernetes.io/component: alerts
              ftplan/role: standby
        - maxSkew: 1
          topologyKey: kubernetes.io/hostname
          whenUnsatisfiable: DoNotSchedule
          labelSelector:
            matchLabels:
              app.kubernetes.io/component: alerts
              ftplan/role: standby
  ---
  apiVersion: apps/v1
  kind: StatefulSet
  metadata:
    name: clicks-standby
  spec:
    replicas: 1
    template:
      metadata:
        labels:
          app.kubernetes.io/component: clicks
          ftplan/role: standby
      spec:
        affinity:
          nodeAffinity:
            requiredDuringSchedulingIgnoredDuringExecution:
              nodeSelectorTerms:
              - matchExpressions:
                - key: kubernetes.io/hostname
                  operator: In
                  values:
                  - n4
          podAntiAffinity:
            requiredDuringSchedulingIgnoredDuringExecution:
            - labelSelector:
                matchLabels:
                  app.kubernetes.io/component: clicks
                  ftplan/role: active
              topologyKey: topology.kubernetes.io/zone
        topologySpreadConstraints:
        - maxSkew: 1
          topologyKey: topology.kubernetes.io/zone
          whenUnsatisfiable: DoNotSchedule
          labelSelector:
            matchLabels:
              app.kubernetes.io/component: clicks
              ftplan/role: standby
        - maxSkew: 1
          topologyKey: kubernetes.io/hostname
          whenUnsatisfiable: DoNotSchedule
          labelSelector:
            matchLabels:
              app.kubernetes.io/component: clicks
              ftplan/role: standby
  ---
  apiVersion: apps/v1
  kind: Deployment
  metadata:
    name: spare
  spec:
    replicas: 1
    template:
      metadata:
        labels:
          app.kubernetes.io/component: sessions
          ftplan/role: standby
      spec:
        affinity:
          nodeAffinity:
            requiredDuringSchedulingIgnoredDuringExecution:
              nodeSelectorTerms:
              - matchExpressions:
                - key: kubernetes.io/hostname
                  operator: In
                  values:
                  - n5
          podAntiAffinity:
            preferredDuringSchedulingIgnoredDuringExecution:
            - weight: 100
              podAffinityTerm:
                labelSelector:
                  matchLabels:
                    app.kubernetes.io/component: sessions
                    ftplan/role: active
                topologyKey: kubernetes.io/hostname
        topologySpreadConstraints:
        - maxSkew: 1
          topologyKey: topology.kubernetes.io/zone
          whenUnsatisfiable: DoNotSchedule
          labelSelector:
            matchLabels:
              app.kubernetes.io/component: sessions
              ftplan/role: standby
        - maxSkew: 1
          topologyKey: kubernetes.io/hostname
          whenUnsatisfiable: DoNotSchedule
          labelSelector:
            matchLabels:
              app.kubernetes.io/component: sessions
              ftplan/role: standby
  2> ftplan: warning: kubernetes cannot be told which pod runs which task: the pods of a workload are alike, so that one task and its own replica cannot be kept apart where others of the operator may meet; nor anything about pods that run already [ENGINE_LIMITS]
  2> ftplan: warning: standbys and active tasks of sessions share nodes in the plan: apart by preference only [NOT_APART]
