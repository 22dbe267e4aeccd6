Bad input: one line each.

  $ ftplan simulate recovry
  2> ftplan: simulate: nothing to simulate is called 'recovry' (did you mean 'recovery'?)
  [2]
  $ ftplan simulate recovery -t topology.yaml --fail task:alerts/0
  2> ftplan: a simulation needs to know where tasks run: give --cluster with placement.tasks
  [2]
  $ ftplan simulate recovery -t topology.yaml -c cluster.yaml
  2> ftplan: nothing fails: give --fail SELECTOR (such as zone:rack-a, node:n1 or task:join/3), a failure file with --failure, or --complete-failure
  [2]
  $ ftplan simulate recovery -t topology.yaml -c cluster.yaml --fail node:n9
  2> ftplan: --fail: node:n9: unknown node 'n9'
  [2]
  $ ftplan simulate recovery -t topology.yaml -c cluster.yaml --fail node:n1 --mode increment
  2> ftplan: --mode: 'increment' is not one of incremental, blocking, source-replay, eager, task-local, standby, uncoordinated, best-case, or a list of them
  [2]
  $ ftplan simulate recovery -t topology.yaml -c cluster.yaml --fail node:n1 --algorithm best
  2> ftplan: simulate recovery: Invalid value for '--algorithm': 'best' is not one of 'operator-centric', 'best-density', 'dynamic-programming', 'local-search', 'exact', 'auto'.
  [2]
  $ ftplan simulate recovery -t topology.yaml -c cluster.yaml --fail node:n1 --until 0s
  2> ftplan: --until: 0.0 is not a number of at least 1 and at most 1e+07, or such as 5m
  [2]
  $ ftplan simulate recovery -t topology.yaml -c cluster.yaml --fail node:n1 --checkpoint-interval 10s --checkpoint-age 11s
  2> ftplan: --checkpoint-age: 11 s is more than the 10 s between checkpoints
  [2]
  $ sed 's/cpu: 4/cpu: 2/; /placement/,$d' cluster.yaml > bare.yaml
  $ ftplan simulate recovery -t topology.yaml -c bare.yaml --fail node:n1
  2> ftplan: a simulation needs to know where every task runs, and the cluster does not say so of alerts and 2 more: give placement.tasks in the cluster file, or place round robin with --spread
  [2]
  $ ftplan simulate recovery -t topology.yaml -c bare.yaml --spread --fail node:n1
  2> ftplan: node n1 is busy 100% of its time before anything fails, most with task alerts/0: its tasks cannot keep up with their input
  [1]
  $ printf 'format: ftplan/failure\nformat_version: 1.0\nfail: [{at_s: 9, select: "node:n1"}]\n' > later.yaml
  $ ftplan simulate recovery -t topology.yaml -c cluster.yaml -f later.yaml
  2> ftplan: nothing fails at 0 s, the first failure is at 9 s: times count from the first failure
  [2]
  $ printf 'format: ftplan/failure\nformat_version: 1.0\nfail: ["node:n1", {at_s: 90, select: "node:n2"}]\n' > two.yaml
  $ ftplan simulate recovery -t topology.yaml -c cluster.yaml -f two.yaml --until 60s
  2> ftplan: --until: 60 s is not after the last failure, at 90 s
  [2]
  $ ftplan allocate-checkpoints -t topology.yaml -c cluster.yaml -s stats -o allocation.json -q
  $ ftplan simulate recovery allocation.json --fail node:n1
  2> ftplan: allocation.json: is a plan of kind allocate-checkpoints: simulate recovery takes a recovery-schedule
  [2]
  $ ftplan simulate recovery -t topology.yaml -c cluster.yaml --fail node:n1 --against allocation.json
  2> ftplan: allocation.json: is a plan of kind allocate-checkpoints: simulate recovery takes a recovery-schedule
  [2]
  $ ftplan simulate recovery nothing.json
  2> ftplan: nothing.json: no such file (did you mean 'allocation.json'?)
  [2]
  $ printf '{"format": "ftplan/plan", "format_version": "1.0", "kind": "recovery-schedule", "plan": {"steps": [{"at_s": 0, "recover": [{"operator": "clicks", "index": 0, "node": "n9"}]}]}}' > hand.json
  $ ftplan simulate recovery hand.json -t topology.yaml -c cluster.yaml --fail node:n1
  2> ftplan: hand.json: plan.steps[0] starts clicks/0 on node 'n9', which neither the cluster has nor arrives
  [2]
  $ ftplan simulate recovery -t topology.yaml -c cluster.yaml --fail node:n1 --plot picture.pdf
  2> ftplan: --plot picture.pdf: expected a name that ends in .svg or .png
  [2]
