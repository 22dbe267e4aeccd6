Recovery costs from recoveries that were measured, and plans that take them.

  $ python3 -c "print('records_s,checkpoint_interval_s,recovery_s\n' + '\n'.join(f'{r},{i},{20 + (0.5 * i + 20) * r / (5 - r):.6f}' for r in (1, 2, 3, 4) for i in (10, 60)))" > recoveries.csv
  $ ftplan calibrate recoveries.csv --draws 20 -o recovery.yaml
  2> ftplan: warning: detection and restart cannot be told apart: restart_s holds both; --detection fixes the one [DETECTION_NOT_SEPARATED]
  2> ftplan: warning: no size of state is known: fetching it is within the other parts; --bandwidth fixes it [BANDWIDTH_NOT_IDENTIFIED]
  2> ftplan: warning: nothing says where state lies: taken as remote, as by default in Flink, Spark and Kafka Streams; --state says otherwise [STATE_ASSUMED]
  2> recovery costs (95 % limits)
  2> parameter                      value  low  high  unit       rests on
  2> detection                          –    –     –  s          not told by the recoveries
  2> restart                           20   20    20  s          fitted to 8 recoveries
  2> bandwidth of a restore             –    –     –  MiB/s      not told by the recoveries
  2> replayed share of an interval    0.5  0.5   0.5             fitted to 8 recoveries
  2> capacity                           5    5     5  records/s  fitted to 8 recoveries
  2> fitted on 8 recoveries, 1 to 4 records/s and 10 to 60 s between checkpoints
  2> error: median 0.0%, 90th percentile 0.0%
  2> error with one rate held out at a time: median 0.0%, 90th percentile 0.0%
  2> state: remote
  $ cat recovery.yaml
  # ftplan calibrate recoveries.csv
  format: ftplan/recovery-costs
  format_version: '1.0'
  state: remote
  parameters:
    restart_s: {value: 20.0, low: 20.0, high: 20.0, basis: fitted to 8 recoveries}
    replay_share: {value: 0.5, low: 0.5, high: 0.5, basis: fitted to 8 recoveries}
    capacity_records_s: {value: 5.0, low: 5.0, high: 5.0, basis: fitted to 8 recoveries}
  fitted_on:
    recoveries: 8
    restores: 0
    rates: [1.0, 4.0]
    intervals_s: [10.0, 60.0]
  error: {median: 0.0, p90: 0.0, held_out: 0.0, held_out_p90: 0.0, held_out_by: rate}
  model: recovery = stopped + replay + catching up; stopped = detection_s + restart_s + bytes / bandwidth_mb_s; replay = replay_share
    * interval * rho; catching up = (stopped + replay) * rho / (1 - rho); rho = rate / capacity_records_s
  tool_version: 0.1.0
  inputs:
  - {role: recoveries, path: recoveries.csv, sha256: 6b73cdead48edf6044d35701a15b70616fd1d06c7387b66abc7600c2770c267b}
  warnings:
  - {code: DETECTION_NOT_SEPARATED, message: 'detection and restart cannot be told apart: restart_s holds both; --detection
      fixes the one'}
  - {code: BANDWIDTH_NOT_IDENTIFIED, message: 'no size of state is known: fetching it is within the other parts; --bandwidth
      fixes it'}
  - {code: STATE_ASSUMED, message: 'nothing says where state lies: taken as remote, as by default in Flink, Spark and Kafka
      Streams; --state says otherwise'}
  $ ftplan check recovery.yaml --format table
  file           kind            holds         warnings
  recovery.yaml  recovery-costs  3 parameters         0
  $ ftplan drain-schedule -t topology.yaml -c cluster.yaml --costs recovery.yaml --restart 30s --algorithm greedy -o drain.json -q
  $ ftplan calibrate recoveries.csv --draws 0 --detection 12s --predict rate=2,interval=30s --predict rate=4.5,interval=30s,state=1GB --format table
  recovery costs (95 % limits)
  parameter                      value  low  high  unit       rests on
  detection                         12    –     –  s          fixed
  restart                            8    –     –  s          fitted to 8 recoveries
  bandwidth of a restore             –    –     –  MiB/s      not told by the recoveries
  replayed share of an interval    0.5    –     –             fitted to 8 recoveries
  capacity                           5    –     –  records/s  fitted to 8 recoveries
  predicted (limits: nine of ten held-out recoveries)
  records/s  interval, s   state, bytes  recovery, s    low   high
          2           30              –        43.33  43.33  43.33
        4.5           30  1,000,000,000          335    335    335
  fitted on 8 recoveries, 1 to 4 records/s and 10 to 60 s between checkpoints
  error: median 0.0%, 90th percentile 0.0%
  error with one rate held out at a time: median 0.0%, 90th percentile 0.0%
  state: remote
  2> ftplan: warning: no size of state is known: fetching it is within the other parts; --bandwidth fixes it [BANDWIDTH_NOT_IDENTIFIED]
  2> ftplan: warning: nothing says where state lies: taken as remote, as by default in Flink, Spark and Kafka Streams; --state says otherwise [STATE_ASSUMED]
  2> ftplan: warning: the recovery costs were fitted on 1 to 4 records/s, the job has 4.5: durations are a guess [OUTSIDE_FITTED_RANGE]
  $ ftplan calibrate recoveries.csv --draws 0 --format markdown -v -q
  **recovery costs (95 % limits)**
  | parameter | value | low | high | unit | rests on |
  |---|---:|---:|---:|---|---|
  | detection | – | – | – | s | not told by the recoveries |
  | restart | 20 | – | – | s | fitted to 8 recoveries |
  | bandwidth of a restore | – | – | – | MiB/s | not told by the recoveries |
  | replayed share of an interval | 0.5 | – | – |  | fitted to 8 recoveries |
  | capacity | 5 | – | – | records/s | fitted to 8 recoveries |
  **recoveries**
  | recovery | interval, s | records/s | measured, s | predicted, s | error | held out |
  |---|---:|---:|---:|---:|---|---|
  | recoveries.csv: row 0 | 10 | 1 | 26.25 | 26.25 | +0.0% | +0.0% |
  | recoveries.csv: row 1 | 60 | 1 | 32.5 | 32.5 | +0.0% | +0.0% |
  | recoveries.csv: row 2 | 10 | 2 | 36.67 | 36.67 | +0.0% | +0.0% |
  | recoveries.csv: row 3 | 60 | 2 | 53.33 | 53.33 | +0.0% | +0.0% |
  | recoveries.csv: row 4 | 10 | 3 | 57.5 | 57.5 | +0.0% | +0.0% |
  | recoveries.csv: row 5 | 60 | 3 | 95 | 95 | +0.0% | +0.0% |
  | recoveries.csv: row 6 | 10 | 4 | 120 | 120 | +0.0% | +0.0% |
  | recoveries.csv: row 7 | 60 | 4 | 220 | 220 | +0.0% | +0.0% |
  fitted on 8 recoveries, 1 to 4 records/s and 10 to 60 s between checkpoints
  error: median 0.0%, 90th percentile 0.0%
  error with one rate held out at a time: median 0.0%, 90th percentile 0.0%
  state: remote
  $ ftplan calibrate recoveries.csv --draws 0 -q --format table --predictions rows.csv
  recovery costs (95 % limits)
  parameter                      value  low  high  unit       rests on
  detection                          –    –     –  s          not told by the recoveries
  restart                           20    –     –  s          fitted to 8 recoveries
  bandwidth of a restore             –    –     –  MiB/s      not told by the recoveries
  replayed share of an interval    0.5    –     –             fitted to 8 recoveries
  capacity                           5    –     –  records/s  fitted to 8 recoveries
  fitted on 8 recoveries, 1 to 4 records/s and 10 to 60 s between checkpoints
  error: median 0.0%, 90th percentile 0.0%
  error with one rate held out at a time: median 0.0%, 90th percentile 0.0%
  state: remote
  $ cat rows.csv
  recovery,checkpoint_interval_s,records_s,state_bytes,recovery_s,predicted_s,error,held_out_s,held_out_error
  recoveries.csv: row 0,10,1,,26.25,26.25,0,26.25,0
  recoveries.csv: row 1,60,1,,32.5,32.5,0,32.5,0
  recoveries.csv: row 2,10,2,,36.6667,36.6667,0,36.6667,0
  recoveries.csv: row 3,60,2,,53.3333,53.3333,0,53.3333,0
  recoveries.csv: row 4,10,3,,57.5,57.5,0,57.5,0
  recoveries.csv: row 5,60,3,,95,95,0,95,0
  recoveries.csv: row 6,10,4,,120,120,0,120,0
  recoveries.csv: row 7,60,4,,220,220,0,220,0

What recoveries do not tell.

  $ python3 -c "print('dauer\n30\n31\n29\n30')" > few.csv
  $ ftplan calibrate few.csv --column recovery=dauer --draws 0 --state local --predict state=1GB
  {
    "error": {
      "held_out": 0.021673,
      "held_out_by": "recovery",
      "held_out_p90": 0.045716,
      "median": 0.016381,
      "p90": 0.033704
    },
    "fitted_on": {
      "recoveries": 4,
      "restores": 0
    },
    "format": "ftplan/recovery-costs",
    "format_version": "1.0",
    "inputs": [
      {
        "path": "few.csv",
        "role": "recoveries",
        "sha256": "9a0d68ed9b31209206709cb51396e6ce80d0a818c6fe93280700e75ae53864db"
      }
    ],
    "model": "recovery = stopped + replay + catching up; stopped = detection_s + restart_s + bytes / bandwidth_mb_s; replay = replay_share * interval * rho; catching up = (stopped + replay) * rho / (1 - rho); rho = rate / capacity_records_s",
    "parameters": {
      "restart_s": {
        "basis": "fitted to 4 recoveries",
        "value": 29.9923
      }
    },
    "predictions": [
      {
        "high": 31.4291,
        "low": 28.6811,
        "parts": {
          "catch_up_s": 0.0,
          "detection_s": 0.0,
          "replay_s": 0.0,
          "restart_s": 29.9923,
          "transfer_s": 0.0
        },
        "recovery_s": 29.9923,
        "state_bytes": 1000000000.0,
        "warnings": []
      }
    ],
    "state": "local",
    "tool_version": "0.1.0",
    "warnings": [
      {
        "code": "DETECTION_NOT_SEPARATED",
        "message": "detection and restart cannot be told apart: restart_s holds both; --detection fixes the one"
      },
      {
        "code": "CAPACITY_NOT_IDENTIFIED",
        "message": "no rate is known: catching up is within the other parts; --capacity fixes what the job can process"
      },
      {
        "code": "REPLAY_NOT_IDENTIFIED",
        "message": "the capacity is not known: what is processed again is within the other parts; --replay-share fixes it"
      },
      {
        "code": "BANDWIDTH_NOT_IDENTIFIED",
        "message": "no size of state is known: fetching it is within the other parts; --bandwidth fixes it"
      }
    ]
  }
  2> ftplan: warning: detection and restart cannot be told apart: restart_s holds both; --detection fixes the one [DETECTION_NOT_SEPARATED]
  2> ftplan: warning: no rate is known: catching up is within the other parts; --capacity fixes what the job can process [CAPACITY_NOT_IDENTIFIED]
  2> ftplan: warning: the capacity is not known: what is processed again is within the other parts; --replay-share fixes it [REPLAY_NOT_IDENTIFIED]
  2> ftplan: warning: no size of state is known: fetching it is within the other parts; --bandwidth fixes it [BANDWIDTH_NOT_IDENTIFIED]
