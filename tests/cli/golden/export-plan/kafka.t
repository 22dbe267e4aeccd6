Copies of key groups are replicas of changelog partitions; which broker a node is has to be said.

  $ ftplan allocate-checkpoints -t topology.yaml -c cluster.yaml -s stats --algorithm exact --objective correlation -o plan.json -q
  $ ftplan export-plan plan.json --to kafka-reassignment
  2> ftplan: node n1: which broker is it? Give --broker-map n1=ID, or a label broker in the cluster file
  [2]
  $ printf 'n1: 1\nn2: 2\nn3: 3\nn4: 4\nn5: 5\nn6: 6\n' > brokers.yaml
  $ ftplan export-plan plan.json --to kafka-reassignment --broker-map brokers.yaml
  2> ftplan: operator alerts: which topic keeps its changelog? Give --topic alerts=TOPIC, or --application-id ID for ID-STORE-changelog
  [2]
  $ ftplan export-plan plan.json --to kafka-reassignment --broker-map brokers.yaml --application-id shop --topic alerts=alarms --bandwidth 50MiB/s -o moves.json
  2> ftplan: warning: kafka-reassignment cannot be told where Kafka Streams runs tasks and standbys (num.standby.replicas and rack.aware.assignment.* choose), in which order partitions move, nor within the JSON how fast: the throttle is an option of the command [ENGINE_LIMITS]
  2> ftplan: warning: kafka-reassign-partitions.sh --bootstrap-server HOST:PORT --reassignment-json-file FILE --execute --throttle 52428800 (bytes/s a broker); --verify takes it off when all is done; with it the plan's moves take at least 0.02 s [THROTTLE]
  2> ftplan: warning: 12 of 12 partitions lie on one broker only: while it is down they cannot be written or restored from; plan with --copies 2 or more [ONE_REPLICA]
  2> ftplan: wrote moves.json
  $ ftplan export-plan plan.json --to kafka-reassignment --broker-map brokers.yaml --application-id shop -o moves.json
  2> ftplan: moves.json: exists already; give --force to overwrite it
  [2]
  $ python3 -c "import json; print(*json.load(open('moves.json'))['partitions'][3:5], sep='\n')"
  {'topic': 'alarms', 'partition': 3, 'replicas': [4]}
  {'topic': 'shop-sessions-changelog', 'partition': 0, 'replicas': [1]}

A plan that would leave partitions with fewer replicas than they have needs a word.

  $ ftplan allocate-checkpoints -t topology.yaml -c cluster.yaml -s stats --algorithm exact --objective correlation --copies 2 -o two.json -q
  $ ftplan allocate-checkpoints -t topology.yaml -c cluster.yaml -s stats --algorithm exact --objective correlation --current two.json -o fewer.json -q
  $ ftplan export-plan fewer.json --to kafka-reassignment --broker-map brokers.yaml --application-id shop
  2> ftplan: alerts/0 has 2 replicas now and would have 1, and 11 more partitions have fewer: plan with --copies as many as now, or give --allow-fewer-replicas
  [2]
  $ ftplan export-plan fewer.json --to kafka-reassignment --broker-map brokers.yaml --application-id shop --allow-fewer-replicas -o moves.json --force
  2> ftplan: warning: kafka-reassignment cannot be told where Kafka Streams runs tasks and standbys (num.standby.replicas and rack.aware.assignment.* choose), in which order partitions move, nor within the JSON how fast: the throttle is an option of the command [ENGINE_LIMITS]
  2> ftplan: warning: give --bandwidth for the throttle; without one, kafka-reassign-partitions.sh --bootstrap-server HOST:PORT --reassignment-json-file FILE --execute copies as fast as brokers can [NO_THROTTLE]
  2> ftplan: warning: 12 of 12 partitions lie on one broker only: while it is down they cannot be written or restored from; plan with --copies 2 or more [ONE_REPLICA]
  2> ftplan: warning: alerts/0 has 2 replicas now and would have 1, and 11 more partitions have fewer [FEWER_REPLICAS]
  2> ftplan: wrote moves.json
