Two algorithms that recover the same queries at the same time.

  $ ftplan recovery-schedule -t topology.yaml -c cluster.yaml --fail zone:a --fail node:n3 --capacity 2 --bandwidth 0.02MiB/s --algorithm best-density --objective priority -o plan.json -q
  $ ftplan recovery-schedule -t topology.yaml -c cluster.yaml --fail zone:a --fail node:n3 --capacity 2 --bandwidth 0.02MiB/s --algorithm operator-centric --objective priority -o other.json -q
  $ ftplan diff plan.json other.json --format table --detailed-exitcode
  0 of 5 tasks change, 0 queries; priority: 2.0 -> 2.0
