A description, what lies on disk, and who has which task; zones from a map, which leaves one process out.

  $ cat > topology.txt <<'EOF'
  > Topologies:
  >    Sub-topology: 0
  >     Source: orders-source (topics: [orders])
  >       --> key
  >     Processor: key (stores: [])
  >       --> repartition-sink
  >       <-- orders-source
  >     Sink: repartition-sink (topic: by-customer-repartition)
  >       <-- key
  > 
  >   Sub-topology: 1
  >     Source: repartition-source (topics: [by-customer-repartition])
  >       --> total
  >     Processor: total (stores: [totals])
  >       --> none
  >       <-- repartition-source
  > 
  > EOF
  $ cat > members.txt <<'EOF'
  > 
  > GROUP           TARGET-ASSIGNMENT-EPOCH TOPOLOGY-EPOCH MEMBER          MEMBER-PROTOCOL    MEMBER-EPOCH PROCESS         CLIENT-ID
  > shop            3 0              m-1             streams               3 p-1             shop-1
  > ACTIVE-TASKS:: 0: [[0, 1],1: [[0]] 
  > STANDBY-TASKS:: 1: [[1]] 
  > WARMUP-TASKS:: ] 
  > 
  > GROUP           TARGET-ASSIGNMENT-EPOCH TOPOLOGY-EPOCH MEMBER          MEMBER-PROTOCOL    MEMBER-EPOCH PROCESS         CLIENT-ID
  > shop            3 0              m-2             streams               3 p-2             shop-2
  > ACTIVE-TASKS:: 1: [[1]] 
  > STANDBY-TASKS:: ] 
  > WARMUP-TASKS:: 1: [[0]] 
  > EOF
  $ printf 'host,zone\np-1,rack a\n' > zones.csv
  $ ftplan import-topology topology.txt members.txt --from kafka-streams --zone-map zones.csv --cores 4 -o t.yaml --cluster-output c.yaml
  2> ftplan: wrote c.yaml: 2 nodes in 1 zone
  2> ftplan: wrote t.yaml: 2 operators, 4 tasks, 1 edge
  2> ftplan: wrote ftplan.toml: commands in its folder need no -t, -c
  2> ftplan: warning: the members name processes, not hosts: each process is taken for a host [HOSTS_UNKNOWN]
  2> ftplan: warning: tasks that warm up (1) count as copies, although they may still lag [WARMUP_COUNTED]
  2> ftplan: warning: Sub-topology-0, Sub-topology-1: cpu: 1 core for each task is assumed [CPU_UNKNOWN]
  2> ftplan: warning: Sub-topology-0: rate_out: 1 record/s from each task is assumed [RATES_UNKNOWN]
  2> ftplan: warning: Sub-topology-1: state_bytes: 0 is assumed [STATE_UNKNOWN]
  2> ftplan: warning: p-2: not in the zone map, so that each node is a zone of its own [ZONE_UNKNOWN]
  $ cat ftplan.toml
  # Defaults of every ftplan command that runs in this folder or below. Paths are relative to this file.
  #   ftplan check t.yaml c.yaml
  #   ftplan recovery-schedule --fail SELECTOR
  [inputs]
  topology = "t.yaml"
  cluster = "c.yaml"
  # stats = "stats"           # once there are some: ftplan compute-stats LOG -o stats
  $ ftplan drain-schedule -o plan.json --quiet
  $ cat t.yaml c.yaml
  # ftplan import-topology topology.txt members.txt --from kafka-streams --cores 4.0 --zone-map zones.csv
  format: ftplan/topology
  format_version: '1.0'
  name: shop
  operators:
  - id: Sub-topology-0
    parallelism: 2
    name: 'Sub-topology: 0'
    labels: {topics: orders, engine_id: '0'}
    cpu: 1
  - id: Sub-topology-1
    parallelism: 2
    name: 'Sub-topology: 1'
    labels: {topics: by-customer-repartition, stores: totals, engine_id: '1'}
    key_groups: 2
    cpu: 1
  edges:
  - {from: Sub-topology-0, to: Sub-topology-1, partitioning: full}
  # ftplan import-topology topology.txt members.txt --from kafka-streams --cores 4.0 --zone-map zones.csv
  format: ftplan/cluster
  format_version: '1.0'
  nodes:
  - {id: p-1, cpu: 4.0, zone: rack-a}
  - {id: p-2, cpu: 4.0}
  placement:
    tasks:
      Sub-topology-0: [p-1, p-1]
      Sub-topology-1: [p-1, p-2]
    key_groups:
      Sub-topology-1: [p-1, p-2]
    checkpoints:
      Sub-topology-1: [[p-2], [p-1]]
  $ ftplan check t.yaml c.yaml --format table
  file    kind      holds                                                   warnings
  t.yaml  topology  2 operators, 4 tasks, 1 edges, 2 key groups, 1 outputs         0
  c.yaml  cluster   2 nodes, 1 zones, 4 placed tasks                               0
  $ printf 'p-1,a\np-1,b\n' > zones.csv
  $ ftplan import-topology topology.txt members.txt --from kafka-streams --zone-map zones.csv -q
  2> ftplan: zones.csv: line 2: host 'p-1' has another zone above
  [2]
  $ head -8 topology.txt > cut.txt
  $ ftplan import-topology cut.txt --from kafka-streams -q
  2> ftplan: cut.txt: no sub-topology reads the repartition topic 'by-customer-repartition': cut off?
  [2]
  $ ftplan import-topology topology.txt --from kafka-streams --partitions oders=4
  2> ftplan: --partitions: no sub-topology reads 'oders': they read by-customer-repartition, orders
  [2]
  $ ftplan import-topology topology.txt --from kafka-streams --partitions orders=4 --format table
  Operators
  operator        name             tasks  key groups  inputs       cpu  state bytes
  Sub-topology-0  Sub-topology: 0      4           –  source         1            –
  Sub-topology-1  Sub-topology: 1      4           4  independent    1            –
  Edges
  from            to              partitioning
  Sub-topology-0  Sub-topology-1  full
  Assumed
  assumption     what
  CPU_UNKNOWN    Sub-topology-0, Sub-topology-1: cpu: 1 core for each task is assumed
  RATES_UNKNOWN  Sub-topology-0: rate_out: 1 record/s from each task is assumed
  STATE_UNKNOWN  Sub-topology-1: state_bytes: 0 is assumed

Defaults come from ftplan.toml, paths relative to it.

  $ printf 'p-1,a\np-2,b\n' > zones.csv
  $ printf '[import-topology]\nfrom = "kafka-streams"\nzone-map = "zones.csv"\ncores = 4\n' > ftplan.toml
  $ ftplan import-topology topology.txt members.txt -o t.json --cluster-output c.json
  2> ftplan: wrote c.json: 2 nodes in 2 zones
  2> ftplan: wrote t.json: 2 operators, 4 tasks, 1 edge
  2> ftplan: ftplan.toml is there already and stays as it is
  2> ftplan: warning: the members name processes, not hosts: each process is taken for a host [HOSTS_UNKNOWN]
  2> ftplan: warning: tasks that warm up (1) count as copies, although they may still lag [WARMUP_COUNTED]
  2> ftplan: warning: Sub-topology-0, Sub-topology-1: cpu: 1 core for each task is assumed [CPU_UNKNOWN]
  2> ftplan: warning: Sub-topology-0: rate_out: 1 record/s from each task is assumed [RATES_UNKNOWN]
  2> ftplan: warning: Sub-topology-1: state_bytes: 0 is assumed [STATE_UNKNOWN]
  $ cat ftplan.toml
  [import-topology]
  from = "kafka-streams"
  zone-map = "zones.csv"
  cores = 4
