What goes wrong before anything is asked.

  $ ftplan collect http://localhost:1 --from prometheus -o new
  2> ftplan: which time? give --for TIME (before --to-time, or now), or --from-time
  [2]
  $ ftplan collect http://localhost:1 --from prometheus --for 1h --from-time 2020-11-22 -o new
  2> ftplan: which time? give --for TIME (before --to-time, or now), or --from-time
  [2]
  $ ftplan collect http://localhost:1 --from prometheus --from-time 2020-11-22T00:00 --to-time 2020-11-22T00:00:30 -o new
  2> ftplan: from 2020-11-22T00:00:00Z to 2020-11-22T00:00:30Z there are no two steps
  [2]
  $ ftplan collect http://localhost:1 --from prometheus --for 1h --every 0.0005 -o new
  2> ftplan: --every: 0.0005 s is not a whole number of milliseconds
  [2]
  $ ftplan collect http://localhost:1 --from prometheus --for 1h --section flnk -o new
  2> ftplan: --section: unknown section 'flnk' (did you mean 'flink'?): one of flink, kafka-streams, spark, storm
  [2]
  $ ftplan collect http://localhost:1 --from prometheus --for 1h --match job=orders -o new
  2> ftplan: --match: 'job=orders' is no label matcher, such as job_name="orders" or pod=~"flink-.*"
  [2]
  $ ftplan collect http://localhost:1 --from prometheus --for 1h --job orders -o new
  2> ftplan: collect: --job is not for --from prometheus
  [2]
  $ ftplan collect http://localhost:1 --from flink --match 'job="orders"' -o new
  2> ftplan: collect: --match is not for --from flink
  [2]
  $ ftplan collect http://localhost:1 --from prometheus --for 1h --retries 0 -o new
  2> ftplan: http://localhost:1: out of reach: connection refused
  [2]
  $ ls
  cluster.yaml
  stats
  stats-tasks
  topology.yaml

A mapping of one's own: the shipped one stands below it, unless it says otherwise.

  $ python3 -c "print('format: ftplan/prometheus-mapping\nformat_version: 1.0\nbase: none\nsections:\n  mine:\n    labels: {operator: stage, task: index, host: {label: instance, pattern: \"(.+):[0-9]+\"}}\n    queries:\n      records_in: {promql: \"my_records_total{\$match}\", kind: counter}')" > mapping.yaml
  $ ftplan check mapping.yaml
  {
    "errors": [],
    "files": [
      {
        "kind": "prometheus-mapping",
        "name": "mapping.yaml",
        "summary": {
          "queries": 1
        },
        "warnings": []
      }
    ]
  }
  $ ftplan collect --print-mapping --mapping mapping.yaml
  format: ftplan/prometheus-mapping
  format_version: '1.0'
  base: none
  sections:
    mine:
      queries:
        records_in:
          promql: my_records_total{$match}
          measure: records_in
          kind: counter
          factor: 1.0
          combine: sum
          labels:
            operator: stage
            task: index
            host:
              label: instance
              pattern: (.+):[0-9]+
              prefix: ''
            parts: []
  $ ftplan collect http://localhost:1 --from prometheus --for 1h --mapping mapping.yaml --section flink -o new
  2> ftplan: --section: unknown section 'flink': one of mine
  [2]
  $ python3 -c "print(open('mapping.yaml').read().replace('kind: counter', 'kind: gauge'))" > wrong.yaml
  $ ftplan collect http://localhost:1 --from prometheus --for 1h --mapping wrong.yaml -o new
  2> ftplan: wrong.yaml: sections.mine.queries.records_in: records_in is added up over time, which takes a counter or a rate, not a gauge
  [2]
  $ python3 -c "print(open('mapping.yaml').read().replace('\$match', ''))" > unmatched.yaml
  $ ftplan collect http://localhost:1 --from prometheus --for 1h --mapping unmatched.yaml --match 'job="a"' -o new
  2> ftplan: --match: the query mine.records_in has no $match in its promql; add it, or choose --section
  [2]
  $ python3 -c "print(open('mapping.yaml').read().replace('\"(.+):', '\"(.+:'))" > pattern.yaml
  $ ftplan collect http://localhost:1 --from prometheus --for 1h --mapping pattern.yaml -o new
  2> ftplan: pattern.yaml: sections.mine.labels.host.pattern: is no regular expression: missing ), unterminated subpattern at position 0
  [2]

A folder that was collected otherwise, and statistics of one that was not collected from Prometheus.

  $ mkdir -p old/answers flink/answers
  $ echo '{"format": "ftplan/collection", "format_version": "1.0", "from": "prometheus", "url": "http://localhost:1", "every_s": 15, "begun": "2026-11-22T07:40:00Z", "options": {"match": [], "queries": []}}' > old/collection.json
  $ ftplan collect http://localhost:1 --from prometheus --for 1h --every 30s -o old
  2> ftplan: the folder was collected with --every 15s; give the same, or another folder
  [2]
  $ ftplan collect http://localhost:1 --from prometheus --for 1h --every 15s --match 'job="a"' -o old
  2> ftplan: the folder was collected without --match; give the same, or another folder
  [2]
  $ ftplan compute-stats old --input-format prometheus -o out
  2> ftplan: old: the folder holds no answers yet
  [2]
  $ echo '{"format": "ftplan/collection", "format_version": "1.0", "from": "flink", "url": "http://a:8081", "every_s": 60, "begun": "2026-11-22T07:40:00Z"}' > flink/collection.json
  $ touch flink/answers/2026-11-22T07.jsonl
  $ ftplan compute-stats flink --input-format prometheus -o out
  2> ftplan: flink/collection.json: the answers are of flink, not of prometheus; choose its --input-format
  [2]
  $ ftplan compute-stats topology.yaml --input-format prometheus -o out
  2> ftplan: topology.yaml: is no folder that 'ftplan collect --from prometheus' wrote (it is no folder)
  [2]
