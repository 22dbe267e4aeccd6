One line says what is wrong with an engine's log, or with options for it

  $ ftplan compute-stats eventlog --input-format spark-eventlog -o new
  2> ftplan: eventlog: no such file
  [2]
  $ ftplan compute-stats topology.yaml --input-format spark-eventlog -o new
  2> ftplan: topology.yaml: no Spark event log: its first line is not {"Event": …}
  [2]
  $ ftplan compute-stats stats --input-format spark-eventlog -o new
  2> ftplan: stats: the folder holds no Spark event log
  [2]
  $ ftplan compute-stats topology.yaml --input-format spark-eventlog --time-column time -o new
  2> ftplan: --time-column: spark-eventlog knows its columns; leave the option out
  [2]
  $ ftplan compute-stats topology.yaml --input-format spark-eventlog --key by-user=user -o new
  2> ftplan: --key: spark-eventlog knows its columns; leave the option out
  [2]
  $ ftplan compute-stats topology.yaml --input-format spark -o new
  2> ftplan: compute-stats: Invalid value for '--input-format': 'spark' is not one of 'auto', 'parquet', 'csv', 'jsonl', 'regex', 'spark-eventlog', 'flink-rest', 'flink-slf4j', 'kafka-log-dirs', 'prometheus'.
  [2]
