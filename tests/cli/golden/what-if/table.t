A what-if file, its cases, and their rows with a summary.

  $ printf '%s\n' \
  >   'format: ftplan/what-if' 'format_version: "1.0"' 'name: replicas' \
  >   'inputs: {topology: topology.yaml, cluster: cluster.yaml}' \
  >   'run: {command: replicate-tasks, options: {budget: 1}}' \
  >   'measures: [objective, output-fidelity, replicas]' \
  >   'cases: [{id: twice-the-traffic, traffic: 2.0}, {id: too-many, options: {budget: 500%}}]' \
  >   'grid: [{options: {budget: [0, 2, 3]}}, {fail: [each zone]}]' > what-if.yaml
  $ ftplan check what-if.yaml
  {
    "errors": [],
    "files": [
      {
        "kind": "what-if",
        "name": "what-if.yaml",
        "summary": {
          "axes": 2,
          "cases": 2
        },
        "warnings": []
      }
    ]
  }
  $ ftplan what-if what-if.yaml --dry-run --format table
  12 cases of replicate-tasks
  case                  budget  fail    changes
  base                       –  –
  twice-the-traffic          –  –       traffic [2.0]
  too-many                   –  –       options {budget: 500%}
  budget=0 fail=zone:a       0  zone:a  fail [zone:a], options {budget: 0}
  budget=0 fail=zone:b       0  zone:b  fail [zone:b], options {budget: 0}
  budget=0 fail=zone:c       0  zone:c  fail [zone:c], options {budget: 0}
  budget=2 fail=zone:a       2  zone:a  fail [zone:a], options {budget: 2}
  budget=2 fail=zone:b       2  zone:b  fail [zone:b], options {budget: 2}
  budget=2 fail=zone:c       2  zone:c  fail [zone:c], options {budget: 2}
  budget=3 fail=zone:a       3  zone:a  fail [zone:a], options {budget: 3}
  budget=3 fail=zone:b       3  zone:b  fail [zone:b], options {budget: 3}
  budget=3 fail=zone:c       3  zone:c  fail [zone:c], options {budget: 3}
  $ ftplan what-if what-if.yaml --jobs 1 --format table --pareto output-fidelity,replicas
  replicas
  case                  budget  fail    status      objective  output-fidelity  replicas  gap  delta_objective  delta_output-fidelity  delta_replicas  reason
  base                       –  –       optimal             0                0         0    0                0                      0               0  –
  twice-the-traffic          –  –       infeasible          –                –         –    –                –                      –               –  the budget holds a replica of task:alerts/0 that finds no node with room outsid…
  too-many                   –  –       error               –                –         –    –                –                      –               –  --budget: '500%' is neither a number of replicas, such as 12, nor a share, such…
  budget=0 fail=zone:a       0  zone:a  optimal             0                0         0    0                0                      0               0  –
  budget=0 fail=zone:b       0  zone:b  optimal           0.5              0.5         0    0              0.5                    0.5               0  –
  budget=0 fail=zone:c       0  zone:c  optimal           0.5              0.5         0    0              0.5                    0.5               0  –
  budget=2 fail=zone:a       2  zone:a  optimal          0.25             0.25         2    0             0.25                   0.25               2  –
  budget=2 fail=zone:b       2  zone:b  optimal             1                1         2    0                1                      1               2  –
  budget=2 fail=zone:c       2  zone:c  optimal             1                1         2    0                1                      1               2  –
  budget=3 fail=zone:a       3  zone:a  optimal           0.5              0.5         3    0              0.5                    0.5               3  –
  budget=3 fail=zone:b       3  zone:b  optimal             1                1         2    0                1                      1               2  –
  budget=3 fail=zone:c       3  zone:c  optimal             1                1         2    0                1                      1               2  –
         case                  objective
  best   budget=2 fail=zone:b          1
  worst  budget=0 fail=zone:a          0
  Pareto front
  case                  output-fidelity  replicas
  budget=2 fail=zone:b                1         2
  budget=0 fail=zone:b              0.5         0
  measure          values  min  p10  p25  median  p75  p90  max    mean
  objective             9    0  0.2  0.5     0.5    1    1    1  0.6389
  output-fidelity       9    0  0.2  0.5     0.5    1    1    1  0.6389
  replicas              9    0    0    0       2    2  2.2    3   1.444
  1 of 12 rows have no objective, first twice-the-traffic: best, worst and quantiles are over the others
  1 of 12 cases failed, first too-many: --budget: '500%' is neither a number of replicas, such as 12, nor a share, such as 30%
  2> ftplan: assumed: 10 of 12 cases, first base: each task of a source sends 1 record/s; rate_out in the topology, or statistics, say [RATES_ASSUMED]
  $ ftplan what-if what-if.yaml --jobs 1 --format markdown --fail-under output-fidelity=0.5 -q
  **replicas**
  | case | budget | fail | status | objective | output-fidelity | replicas | gap | delta_objective | delta_output-fidelity | delta_replicas | reason |
  |---|---:|---|---|---:|---:|---:|---:|---:|---:|---:|---|
  | base | – | – | optimal | 0 | 0 | 0 | 0 | 0 | 0 | 0 | – |
  | twice-the-traffic | – | – | infeasible | – | – | – | – | – | – | – | the budget holds a replica of task:alerts/0 that finds no node with room outsid… |
  | too-many | – | – | error | – | – | – | – | – | – | – | --budget: '500%' is neither a number of replicas, such as 12, nor a share, such… |
  | budget=0 fail=zone:a | 0 | zone:a | optimal | 0 | 0 | 0 | 0 | 0 | 0 | 0 | – |
  | budget=0 fail=zone:b | 0 | zone:b | optimal | 0.5 | 0.5 | 0 | 0 | 0.5 | 0.5 | 0 | – |
  | budget=0 fail=zone:c | 0 | zone:c | optimal | 0.5 | 0.5 | 0 | 0 | 0.5 | 0.5 | 0 | – |
  | budget=2 fail=zone:a | 2 | zone:a | optimal | 0.25 | 0.25 | 2 | 0 | 0.25 | 0.25 | 2 | – |
  | budget=2 fail=zone:b | 2 | zone:b | optimal | 1 | 1 | 2 | 0 | 1 | 1 | 2 | – |
  | budget=2 fail=zone:c | 2 | zone:c | optimal | 1 | 1 | 2 | 0 | 1 | 1 | 2 | – |
  | budget=3 fail=zone:a | 3 | zone:a | optimal | 0.5 | 0.5 | 3 | 0 | 0.5 | 0.5 | 3 | – |
  | budget=3 fail=zone:b | 3 | zone:b | optimal | 1 | 1 | 2 | 0 | 1 | 1 | 2 | – |
  | budget=3 fail=zone:c | 3 | zone:c | optimal | 1 | 1 | 2 | 0 | 1 | 1 | 2 | – |
  |  | case | objective |
  |---|---|---:|
  | best | budget=2 fail=zone:b | 1 |
  | worst | budget=0 fail=zone:a | 0 |
  | measure | values | min | p10 | p25 | median | p75 | p90 | max | mean |
  |---|---:|---:|---:|---:|---:|---:|---:|---:|---:|
  | objective | 9 | 0 | 0.2 | 0.5 | 0.5 | 1 | 1 | 1 | 0.6389 |
  | output-fidelity | 9 | 0 | 0.2 | 0.5 | 0.5 | 1 | 1 | 1 | 0.6389 |
  | replicas | 9 | 0 | 0 | 0 | 2 | 2 | 2.2 | 3 | 1.444 |
  1 of 12 rows have no objective, first twice-the-traffic: best, worst and quantiles are over the others
  1 of 12 cases failed, first too-many: --budget: '500%' is neither a number of replicas, such as 12, nor a share, such as 30%
  2> ftplan: output-fidelity of case twice-the-traffic is undefined, which misses the limit 0.5; 4 of 11 cases miss it
  [1]

Rows in a file, which is not overwritten, and what cannot be asked.

  $ ftplan what-if what-if.yaml --jobs 1 -o rows.csv -q
  $ cat rows.csv
  case,budget,fail,status,algorithm,sense,objective,output-fidelity,replicas,gap,delta_objective,delta_output-fidelity,delta_replicas,reason
  base,,,optimal,auto,max,0.0,0.0,0.0,0.0,0.0,0.0,0.0,
  twice-the-traffic,,,infeasible,auto,max,,,,,,,,the budget holds a replica of task:alerts/0 that finds no node with room outside their primary's zone: it needs 2 cores of the 4.8 that are free (memory: 0.5 of 2^20 bytes without a node)
  too-many,,,error,,,,,,,,,,"'--budget: '500%' is neither a number of replicas, such as 12, nor a share, such as 30%"
  budget=0 fail=zone:a,0,zone:a,optimal,auto,max,0.0,0.0,0.0,0.0,0.0,0.0,0.0,
  budget=0 fail=zone:b,0,zone:b,optimal,auto,max,0.5,0.5,0.0,0.0,0.5,0.5,0.0,
  budget=0 fail=zone:c,0,zone:c,optimal,auto,max,0.5,0.5,0.0,0.0,0.5,0.5,0.0,
  budget=2 fail=zone:a,2,zone:a,optimal,auto,max,0.25,0.25,2.0,0.0,0.25,0.25,2.0,
  budget=2 fail=zone:b,2,zone:b,optimal,auto,max,1.0,1.0,2.0,0.0,1.0,1.0,2.0,
  budget=2 fail=zone:c,2,zone:c,optimal,auto,max,1.0,1.0,2.0,0.0,1.0,1.0,2.0,
  budget=3 fail=zone:a,3,zone:a,optimal,auto,max,0.5,0.5,3.0,0.0,0.5,0.5,3.0,
  budget=3 fail=zone:b,3,zone:b,optimal,auto,max,1.0,1.0,2.0,0.0,1.0,1.0,2.0,
  budget=3 fail=zone:c,3,zone:c,optimal,auto,max,1.0,1.0,2.0,0.0,1.0,1.0,2.0,
  $ ftplan what-if what-if.yaml -o rows.csv
  2> ftplan: rows.csv: exists already; give --force to overwrite it
  [2]
  $ ftplan what-if what-if.yaml --fail-under output-fidelty=0.5
  2> ftplan: --fail-under 'output-fidelty=0.5': expected MEASURE=VALUE (did you mean 'output-fidelity'?); measures: objective, output-fidelity, replicas, gap
  [2]
  $ ftplan what-if what-if.yaml --pareto replicas
  2> ftplan: --pareto 'replicas': expected two measures, as A,B; measures: objective, output-fidelity, replicas, gap
  [2]
  $ ftplan what-if what-if.yaml --plot fidelity.pdf
  2> ftplan: --plot fidelity.pdf: expected a name that ends in .svg or .png
  [2]
  $ ftplan what-if topology.yaml
  2> ftplan: topology.yaml: format: this is a topology file (ftplan/topology); expected a what-if (ftplan/what-if)
  [2]
