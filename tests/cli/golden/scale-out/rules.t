Rules of one's own: what counts here is the busiest task's cpu.

  $ sed -i "s/state_bytes: 1048576}/state_bytes: 1048576, record_time_s: 4}/" topology.yaml
  $ cat > mine.yaml <<END
  > format: ftplan/bottleneck-rules
  > format_version: "1.0"
  > inputs:
  >   cpu: {low: [0, 0, 20, 60], high: [60, 90, 100, 100]}
  > score: {under: [0, 0, 20], normal: [20, 50, 80], over: [80, 100, 100]}
  > rules:
  >   - if cpu is high then over
  >   - if cpu is low then under
  >   - otherwise normal
  > END
  $ ftplan check mine.yaml --format table
  file       kind              holds              warnings
  mine.yaml  bottleneck-rules  1 inputs, 3 rules         0
  $ ftplan scale-out -t topology.yaml -s stats --rules mine.yaml --forecast none --iterations 5 -o plan.json -q
  $ ftplan verify plan.json --format table
  valid; held to: ranges, target, max-parallelism, technique
  not recomputed: bound, summary.baselines, summary.least_extra_cpu, plan.operators.steps, assumptions[0], assumptions[1]
  taken as stated: algorithm, options, tool_version, warnings, plan.operators.reason
  $ ftplan explain plan.json operator:sessions --format table
  operator:sessions: from 4 to 5 tasks by active-backup
  task  key groups  node  utilisation  state, bytes
     0  0–2            –       0.5528     1,572,864
     1  3–4            –       0.5528     1,048,576
     2  5–5            –       0.3317       524,288
     3  6–6            –       0.3685       524,288
     4  7–7            –       0.4054       524,288
  operator:sessions: where it could stand
  parallelism  busiest task  fullest task, bytes  chosen  ruled out by
            2         1.106            2,621,440  no      target
            3        0.8107            2,097,152  no      target
            4        0.7002            1,572,864  no      target
            5        0.5528            1,572,864  yes     –
            6        0.4791            1,048,576  no      –
            7        0.4054            1,048,576  no      –
            8        0.4054              524,288  no      –
  prepared since window 44: score 61.39 in the last window (scale-in below 25, prepared from 55, promoted above 70)
  its busiest task in the last window: cpu 76.1 %, memory unknown, data 76.1 %
  it lets through or obstructs 100.0% of all output (Stela)
  the demand keeps 2.21 tasks busy, 4 at 0.7 if it were even; with these key ranges the busiest one has 0.553, now 0.774
  checkpoint: pause 74.2 s, 478 extra core-s
  assisted: without a cluster no node holds checkpoints
  active-backup: pause 0.001 s, 2.34e+05 extra core-s

Thresholds that no score reaches: the ends of the labels have a width.

  $ ftplan scale-out -t topology.yaml -s stats --promote 85
  2> ftplan: --promote: 85: no score lies above it: with these rules they are from 20.42 to 79.58; give a threshold between
  [2]
  $ ftplan scale-out -t topology.yaml -s stats --scale-in 10
  2> ftplan: --scale-in: 10: no score lies below it: with these rules they are from 20.42 to 79.58; give a threshold between
  [2]
  $ ftplan scale-out -t topology.yaml -s stats --scale-in 60
  2> ftplan: --alarming: 55: must be above --scale-in, which is 60
  [2]
  $ ftplan scale-out -t topology.yaml -s stats --alarming 75
  2> ftplan: --alarming: 75: must not be above --promote, which is 70
  [2]
  $ sed -i "s/over: .80, 100, 100./over: [40, 50, 60]/" mine.yaml
  $ ftplan scale-out -t topology.yaml -s stats --rules mine.yaml
  2> ftplan: --alarming: 55: no score lies above it: with these rules they are from 6.667 to 50; give a threshold between
  [2]

Lines that are no rules.

  $ sed -i "s/if cpu is low then/if cpu is lwo then/" mine.yaml
  $ ftplan check mine.yaml --format table
  2> ftplan: mine.yaml: rules[1]: 'lwo' is no label of cpu (did you mean 'low'?)
  [2]
  $ sed -i "s/if cpu is lwo then under/if two or more low then under/" mine.yaml
  $ ftplan scale-out -t topology.yaml -s stats --rules mine.yaml
  2> ftplan: mine.yaml: rules[1]: expected a number from 1 to 1 (inputs) after 'if', got 'two'
  [2]
  $ ftplan scale-out -t topology.yaml -s stats --rules topology.yaml
  2> ftplan: topology.yaml: format: this is a topology file (ftplan/topology); expected a bottleneck rule set (ftplan/bottleneck-rules)
  [2]
