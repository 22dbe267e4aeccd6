What each engine can and cannot be told.

  $ ftplan export-plan --help
  Usage: ftplan export-plan [OPTIONS] PLAN
    Write a plan in the words of an engine.
    What the engine cannot be told stands in warnings: on standard error, and in YAML at the head of the file.
    Topology and cluster are read from the paths that the plan names, where they are unchanged, unless -t and
    -c say otherwise.
  Options:
    --to [kafka-reassignment|kafka-streams|kubernetes|storm|flink|csv]
                                    What to write; see below.  [required]
    -t, --topology FILE             Topology, YAML or JSON; - is standard input.
    -c, --cluster FILE              Cluster, YAML or JSON.
    --broker-map NODE=ID|FILE       Broker id of a node; repeatable.  [default: its label broker, its id]
    --application-id ID             Topics are ID-STORE-changelog.
    --topic OPERATOR=TOPIC|FILE     Changelog topic of an operator; repeatable.
    --log-dir PATH                  Log directory of every replica, or any.
    --bandwidth SPEED               Throttle of a reassignment, a broker; without a unit in MB/s of 2^20
                                    bytes.
    --host-map NODE=HOST|FILE       Host name of a node; repeatable.  [default: its label, its id]
    --workload OPERATOR=KIND/NAME|FILE
                                    Workload of an operator's standbys; repeatable.  [default:
                                    StatefulSet/OPERATOR-standby]
    --host-label LABEL              Label of hosts in Kubernetes.  [default: kubernetes.io/hostname]
    --zone-label LABEL              Label of zones in Kubernetes.  [default: topology.kubernetes.io/zone]
    -o, --output FILE               Write here; - is standard output.  [default: -]
    --force                         Overwrite an existing output.
    --no-progress                   No progress bar.
    -q, --quiet                     Only the answer and errors.
    -v, --verbose                   Say on standard error what is read and how long it takes.
    --debug                         Show the trace of an error.
    -h, --help                      Show this message and exit.
    kafka-reassignment: the JSON of kafka-reassign-partitions: the brokers of each partition of the changelog
    topics. Takes allocate-checkpoints. It can be told: which brokers keep each changelog partition, which of
    them leads by preference, and in which log directory. It cannot: where Kafka Streams runs tasks and
    standbys (num.standby.replicas and rack.aware.assignment.* choose), in which order partitions move, nor
    within the JSON how fast: the throttle is an option of the command.
    kafka-streams: properties of Kafka Streams, with the tag of each instance as a list to go by. Takes peer-
    ring. It can be told: how many standbys each task has, and that these keep to instances of other zones. It
    cannot: tokens, which instance runs which task, who its standbys are, nor that only neighbours are: it
    assigns tasks itself, by their number.
    kubernetes: patches for the workloads of standbys, one YAML document an operator: node affinity, anti-
    affinity, spread. Takes replicate-tasks, allocate-checkpoints. It can be told: on which hosts standby pods
    may run, how evenly they spread over hosts and zones, and that they keep away from the pods of their
    operator. It cannot: which pod runs which task: the pods of a workload are alike, so that one task and its
    own replica cannot be kept apart where others of the operator may meet; nor anything about pods that run
    already.
    storm: a fragment of a topology's configuration, YAML, with the supervisor of each component as a list to
    go by. Takes recovery-schedule, scale-out. It can be told: which hosts a topology prefers and which it
    avoids, and how many executors of a component a node may have: to the resource aware scheduler; to the
    isolation scheduler how many machines; and by storm rebalance how many executors each component has. It
    cannot: which supervisor runs which task, nor in which order tasks come back: ftplan.component.supervisors
    is for people and for a scheduler of your own; nor which keys a task gets.
    flink: a fragment of config.yaml, with the rest of the plan as remarks to go by. Takes allocate-
    checkpoints, replicate-tasks, recovery-schedule, drain-schedule, scale-out. It can be told: max
    parallelism, restarts by region, recovery from local copies, spreading over TaskManagers, spare
    TaskManagers, the parallelism of single vertices, and in code max parallelism and slot sharing groups with
    their cores, operator by operator. It cannot: on which TaskManager a task runs or a copy of its state
    lies, in which order tasks restart, which key groups a task has, nor active replicas of tasks: it has
    none.
    csv: the plan's main table, flat, with a header. Takes every kind. It can be told: nothing: it is for
    spreadsheets and scripts. It cannot: what the plan states beside its main table.
