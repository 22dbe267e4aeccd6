One line says what is wrong, and nothing is written.

  $ ftplan collect http://localhost:1 -o new --retries 0
  2> ftplan: http://localhost:1: connection refused; --from says what should answer: flink, storm, prometheus
  [2]
  $ ftplan collect http://localhost:1 --from spark -o new
  2> ftplan: collect: Invalid value for '--from': 'spark' is not one of 'flink', 'storm', 'prometheus'.
  [2]
  $ ftplan collect http://localhost:1 --from flink
  2> ftplan: collect: -o DIR is missing: ftplan collect URL -o DIR
  [2]
  $ ftplan collect http://me:s3cret@localhost:1 --from flink -o new
  2> ftplan: the URL holds credentials, which would be stored and shown: put them into FTPLAN_COLLECT_USER and FTPLAN_COLLECT_PASSWORD, or FTPLAN_COLLECT_TOKEN, of the environment
  [2]
  $ ftplan collect 'http://localhost:1/?token=s3cret' --from flink -o new
  2> ftplan: the URL has a query or a fragment, where tokens stand at times: give it without
  [2]
  $ ftplan collect localhost:8081 --from flink -o new
  2> ftplan: 'localhost:8081' is no URL of HTTP; expected one such as http://host:8081
  [2]
  $ ftplan collect http://localhost:1 --from flink -o new --every 0
  2> ftplan: collect: --every: must be more than 0
  [2]
  $ ftplan collect http://localhost:1 --from flink -o new --every 10x
  2> ftplan: collect: Invalid value for '--every': '10x' is no duration: a number of seconds, or 500ms, 60s, 5m, 24h, 7d
  [2]
  $ ftplan collect http://localhost:1 --from flink -o new --max-answer 0
  2> ftplan: collect: --max-answer: must be at least a byte
  [2]
  $ ftplan collect http://localhost:1 --from flink -o new --metrics '('
  2> ftplan: --metrics: is no regular expression: missing ), unterminated subpattern at position 0
  [2]
  $ ftplan collect http://localhost:1 --from storm -o new --metrics x
  2> ftplan: --metrics: Storm's pages are kept whole; it goes with --from flink
  [2]
  $ ftplan collect https://localhost:1 --from flink -o new --ca-file gone.pem
  2> ftplan: --ca-file: gone.pem: there is no such file
  [2]
  $ ftplan collect http://localhost:1 --from flink -o stats
  2> ftplan: stats: holds something else; give a new folder, or one of collected answers to go on in
  [2]
  $ ftplan collect http://localhost:1 --from flink -o topology.yaml
  2> ftplan: topology.yaml: is a file; give a new folder, or one of collected answers to go on in
  [2]
  $ ls
  cluster.yaml
  stats
  stats-tasks
  topology.yaml

A folder that goes on with another endpoint.

  $ mkdir old
  $ echo '{"format": "ftplan/collection", "format_version": "1.0", "from": "flink", "url": "http://a:8081", "every_s": 60, "begun": "2026-11-22T07:40:00Z"}' > old/collection.json
  $ ftplan check old/collection.json
  {
    "errors": [],
    "files": [
      {
        "kind": "collection",
        "name": "old/collection.json",
        "summary": {
          "options": 0
        },
        "warnings": []
      }
    ]
  }
  $ ftplan collect http://b:8081 --from flink -o old
  2> ftplan: old: holds answers of flink at http://a:8081, not of flink at http://b:8081: give another folder
  [2]
