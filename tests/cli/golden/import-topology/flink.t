The plan of flink info: forwarded operators are chained as Flink chains them, max parallelism is Flink's default.

  $ cat > info.json <<'EOF'
  > {"nodes": [
  >   {"id": 1, "type": "Source: orders", "pact": "Data Source", "contents": "Source: orders", "parallelism": 2},
  >   {"id": 2, "type": "Map", "pact": "Operator", "contents": "Map", "parallelism": 2, "predecessors": [{"id": 1, "ship_strategy": "FORWARD", "side": "second"}]},
  >   {"id": 3, "type": "Source: rates", "pact": "Data Source", "contents": "Source: rates", "parallelism": 1},
  >   {"id": 4, "type": "Interval Join", "pact": "Operator", "contents": "Interval Join", "parallelism": 100, "predecessors": [
  >     {"id": 2, "ship_strategy": "HASH", "side": "second"}, {"id": 3, "ship_strategy": "HASH", "side": "second"}]},
  >   {"id": 5, "type": "Sink: out", "pact": "Data Sink", "contents": "Sink: out", "parallelism": 20, "predecessors": [{"id": 4, "ship_strategy": "RESCALE", "side": "second"}]}
  > ]}
  > EOF
  $ ftplan import-topology info.json --from flink --name orders
  {
    "edges": [
      {
        "from": "Source-orders-Map",
        "partitioning": "full",
        "to": "Interval-Join"
      },
      {
        "from": "Source-rates",
        "partitioning": "full",
        "to": "Interval-Join"
      },
      {
        "from": "Interval-Join",
        "partitioning": "merge",
        "to": "Sink-out"
      }
    ],
    "format": "ftplan/topology",
    "format_version": "1.0",
    "name": "orders",
    "operators": [
      {
        "cpu": 0.25,
        "id": "Source-orders-Map",
        "labels": {
          "engine_id": "1"
        },
        "name": "Source: orders -> Map",
        "parallelism": 2
      },
      {
        "cpu": 0.25,
        "id": "Source-rates",
        "labels": {
          "engine_id": "3"
        },
        "name": "Source: rates",
        "parallelism": 1
      },
      {
        "cpu": 0.25,
        "id": "Interval-Join",
        "inputs": "correlated",
        "key_groups": 256,
        "labels": {
          "engine_id": "4"
        },
        "name": "Interval Join",
        "parallelism": 100
      },
      {
        "cpu": 0.25,
        "id": "Sink-out",
        "labels": {
          "engine_id": "5"
        },
        "name": "Sink: out",
        "parallelism": 20
      }
    ]
  }
  2> ftplan: warning: Interval-Join: max parallelism is not known; Flink's default for their parallelism is assumed as key groups [MAX_PARALLELISM_UNKNOWN]
  2> ftplan: warning: Interval-Join, Sink-out, Source-orders-Map and 1 more: cpu is not known; an even part of a slot is assumed for each task (1 cores a slot) [CPU_BY_SLOT]
  2> ftplan: warning: Source-orders-Map, Source-rates: rate_out: 1 record/s from each task is assumed [RATES_UNKNOWN]
  2> ftplan: warning: Interval-Join: state_bytes: 0 is assumed [STATE_UNKNOWN]
  2> ftplan: warning: Interval-Join: taken for joins by their names (correlated inputs); --independent OPERATOR takes it back [JOINS]
  $ ftplan import-topology info.json --from flink --independent Interval-Join -q --format table
  Operators
  operator           name                   tasks  key groups  inputs        cpu  state bytes
  Source-orders-Map  Source: orders -> Map      2           –  source       0.25            –
  Source-rates       Source: rates              1           –  source       0.25            –
  Interval-Join      Interval Join            100         256  independent  0.25            –
  Sink-out           Sink: out                 20           –  independent  0.25            –
  Edges
  from               to             partitioning
  Source-orders-Map  Interval-Join  full
  Source-rates       Interval-Join  full
  Interval-Join      Sink-out       merge
  Assumed
  assumption               what
  MAX_PARALLELISM_UNKNOWN  Interval-Join: max parallelism is not known; Flink's default for their parallelism is assumed as key groups
  CPU_BY_SLOT              Interval-Join, Sink-out, Source-orders-Map and 1 more: cpu is not known; an even part of a slot is assumed for each task (1 cores a slot)
  RATES_UNKNOWN            Source-orders-Map, Source-rates: rate_out: 1 record/s from each task is assumed
  STATE_UNKNOWN            Interval-Join: state_bytes: 0 is assumed
  $ ftplan import-topology info.json --from flink --strict
  2> ftplan: flink-job: --strict: 4 assumptions, the first: Interval-Join: max parallelism is not known; Flink's default for their parallelism is assumed as key groups [MAX_PARALLELISM_UNKNOWN]
  [2]
  $ ftplan import-topology info.json --from flink --cluster-output machines.yaml -o job.yaml
  2> ftplan: info.json: names no hosts, so that there is no cluster: leave out --cluster-output
  [2]
  $ printf '{"plan": {"nodes": [{"id": "a", "inputs": [{"id": "b"}]}]}}' > bad.json
  $ ftplan import-topology bad.json --from flink
  2> ftplan: bad.json: plan.nodes[0]: reads 'b', which is no node of the plan
  [2]
  $ printf '{"jobs": []}' > overview.json
  $ ftplan import-topology overview.json --from flink
  2> ftplan: overview.json: holds no plan of a Flink job; expected what /jobs/:jobid or /jobs/:jobid/plan answers, or what flink info writes
  [2]
