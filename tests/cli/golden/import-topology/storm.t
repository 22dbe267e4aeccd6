Flux: a fields grouping makes key groups of Storm's tasks; what is not said is assumed.

  $ cat > flux.yaml <<'EOF'
  > name: word count
  > spouts:
  >   - {id: sentence-spout, className: com.example.Sentences, parallelism: 2, cpuLoad: 20}
  > bolts:
  >   - {id: split, className: com.example.Split, parallelism: "${split.count}", cpuLoad: 10}
  >   - {id: count, className: com.example.Count, parallelism: 2, numTasks: 8, cpuLoad: 10}
  > streams:
  >   - {from: sentence-spout, to: split, grouping: {type: SHUFFLE}}
  >   - {from: split, to: count, grouping: {type: FIELDS, args: [word]}}
  > EOF
  $ printf 'split.count: 4\n' > dev.properties
  $ ftplan import-topology flux.yaml dev.properties --from storm
  {
    "edges": [
      {
        "from": "sentence-spout",
        "partitioning": "full",
        "to": "split"
      },
      {
        "from": "split",
        "partitioning": "full",
        "to": "count"
      }
    ],
    "format": "ftplan/topology",
    "format_version": "1.0",
    "name": "word count",
    "operators": [
      {
        "cpu": 0.2,
        "id": "sentence-spout",
        "labels": {
          "class": "com.example.Sentences"
        },
        "parallelism": 2
      },
      {
        "cpu": 0.1,
        "id": "split",
        "labels": {
          "class": "com.example.Split"
        },
        "parallelism": 4
      },
      {
        "cpu": 0.1,
        "id": "count",
        "key_groups": 8,
        "labels": {
          "class": "com.example.Count"
        },
        "parallelism": 2
      }
    ]
  }
  2> ftplan: warning: sentence-spout: rate_out: 1 record/s from each task is assumed [RATES_UNKNOWN]
  2> ftplan: warning: count: state_bytes: 0 is assumed [STATE_UNKNOWN]
  $ ftplan import-topology flux.yaml --from storm --format table
  Operators
  operator        name  tasks  key groups  inputs       cpu  state bytes
  sentence-spout     –      2           –  source       0.2            –
  split              –      1           –  independent  0.1            –
  count              –      2           8  independent  0.1            –
  Edges
  from            to     partitioning
  sentence-spout  split  full
  split           count  full
  Assumed
  assumption           what
  PARALLELISM_UNKNOWN  split: parallelism 1 is assumed; --parallelism says it
  RATES_UNKNOWN        sentence-spout: rate_out: 1 record/s from each task is assumed
  STATE_UNKNOWN        count: state_bytes: 0 is assumed
  $ ftplan import-topology flux.yaml dev.properties --from storm -o imported.yaml
  2> ftplan: wrote imported.yaml: 3 operators, 8 tasks, 2 edges
  2> ftplan: wrote ftplan.toml: commands in its folder need no -t
  2> ftplan: warning: sentence-spout: rate_out: 1 record/s from each task is assumed [RATES_UNKNOWN]
  2> ftplan: warning: count: state_bytes: 0 is assumed [STATE_UNKNOWN]
  $ head -3 imported.yaml
  # ftplan import-topology flux.yaml dev.properties --from storm
  format: ftplan/topology
  format_version: '1.0'
  $ ftplan check imported.yaml --format table
  file           kind      holds                                                   warnings
  imported.yaml  topology  3 operators, 8 tasks, 2 edges, 8 key groups, 1 outputs         0

What cannot be done is one line.

  $ ftplan import-topology flux.yaml --from storm -o imported.yaml
  2> ftplan: imported.yaml: exists already; give --force to overwrite it
  [2]
  $ ftplan import-topology flux.yaml --from storm --strict
  2> ftplan: word count: --strict: 3 assumptions, the first: split: parallelism 1 is assumed; --parallelism says it [PARALLELISM_UNKNOWN]
  [2]
  $ ftplan import-topology flux.yaml --from storm --cluster-output nodes.yaml
  2> ftplan: flux.yaml: names no hosts, so that there is no cluster: leave out --cluster-output
  [2]
  $ ftplan import-topology flux.yaml --from storm --correlated cuont
  2> ftplan: --correlated: there is no operator 'cuont' (did you mean 'count'?)
  [2]
  $ ftplan import-topology flux.yaml --from storm --parallelism split=many
  2> ftplan: --parallelism: 'split=many' is neither a whole number from 1 to 10,000,000 nor NAME=NUMBER
  [2]
  $ ftplan import-topology flux.yaml --from kafka-streams
  2> ftplan: flux.yaml: is no description of a topology (Topology.describe())
  [2]
  $ ftplan import-topology flux.yaml --from risingwave
  2> ftplan: flux.yaml: holds no fragments (stream_dist_plan, or what EXPLAIN (DISTSQL) prints)
  [2]
  $ ftplan import-topology flux.yaml --from spark
  2> ftplan: flux.yaml: no Spark event log: its first line is not {"Event": …}
  [2]
  $ ftplan import-topology dev.properties --from storm
  2> ftplan: dev.properties: is a configuration only (split.count): it has no spouts and bolts
  [2]
  $ printf 'spout.count : 1\ntopology.workers : 1\n' > conf.yaml
  $ ftplan import-topology conf.yaml --from storm
  2> ftplan: conf.yaml: is a configuration only (spout.count, topology.workers): it has no spouts and bolts
  [2]
  $ ftplan import-topology missing.yaml --from storm
  2> ftplan: missing.yaml: no such file
  [2]
  $ ftplan import-topology http://127.0.0.1:1 --from kafka-streams
  2> ftplan: http://127.0.0.1:1: Kafka's tools answer in text; give what they print as files
  [2]
