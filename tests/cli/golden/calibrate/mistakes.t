Input that is no recovery, and questions that have no answer.

  $ ftplan calibrate
  2> ftplan: calibrate: Missing argument 'RECOVERIES...'.
  [2]
  $ ftplan calibrate recoveries.csv
  2> ftplan: recoveries.csv: no such file or folder
  [2]
  $ ftplan calibrate topology.yaml
  2> ftplan: topology.yaml: holds no JobInitialization span: Flink writes them where a trace reporter is configured (traces.reporter.NAME.factory.class: org.apache.flink.traces.slf4j.Slf4jTraceReporterFactory)
  [2]
  $ python3 -c "print('records_s,checkpoint_interval_s,recovery_s\n' + '\n'.join(f'{r},{i},{20 + (0.5 * i + 20) * r / (5 - r):.6f}' for r in (1, 2, 3, 4) for i in (10, 60)))" > recoveries.csv
  $ ftplan calibrate recoveries.csv --predict speed=1
  2> ftplan: calibrate: Invalid value for '--predict': 'speed=1': expected some of rate=RECORDS, interval=TIME, state=SIZE
  [2]
  $ ftplan calibrate recoveries.csv --predict rate=6,interval=30s --draws 0 -q
  2> ftplan: --predict: the job can process 5 records/s and gets 6: it never catches up
  [2]
  $ ftplan calibrate recoveries.csv --column recovery=time
  2> ftplan: recoveries.csv: there is no column 'time'; there are records_s, checkpoint_interval_s, recovery_s
  [2]
  $ ftplan calibrate recoveries.csv -o recoveries.csv
  2> ftplan: recoveries.csv: is an input of this command, which is never overwritten; give another name
  [2]
  $ ftplan calibrate recoveries.csv --from curves
  2> ftplan: recoveries.csv: neither recoveries nor curves: no column of time: --column time=COLUMN names it; there are records_s, checkpoint_interval_s, recovery_s
  [2]
  $ python3 -c "print('time,lag\n' + '\n'.join(f'{i},5' for i in range(900)))" > curve.csv
  $ ftplan calibrate curve.csv
  2> ftplan: curve.csv: the curves show no failure
  [2]
