A plan as it was made; then one with a move to another node, and with rules that it does not keep.

  $ sed -i "s/state_bytes: 1048576}/state_bytes: 1048576, record_time_s: 0.5, checkpoint: {interval_s: 60}}/; s/state_bytes: 524288}/state_bytes: 524288, record_time_s: 0.5, checkpoint: {interval_s: 60, kind: full}}/" topology.yaml
  $ sed -i "s/^placement:/network: {bandwidth_mb_s: 1, delay_s: 0.01}\nplacement:/" cluster.yaml
  $ ftplan allocate-checkpoints -t topology.yaml -c cluster.yaml -s stats --objective correlation -o copies.json -q
  $ ftplan rebalance -t topology.yaml -c cluster.yaml -s stats --checkpoints copies.json --record-bytes 100 --iterations 20 -o plan.json -q
  $ ftplan verify plan.json --format table
  $ ftplan verify plan.json --format table --strict
  $ python3 -c "import json; p = json.load(open('plan.json')); p['plan']['moves'][0]['to'] = 'n5'; json.dump(p, open('wrong.json', 'w'))"
  $ ftplan verify wrong.json --format table

By hand: only the moves.

  $ printf '{"format": "ftplan/plan", "format_version": "1.0", "kind": "rebalance", "plan": {"moves": [{"operator": "sessions", "key_group": 6, "from": "n6", "to": "n2"}]}}' > hand.json
  $ ftplan verify hand.json -t topology.yaml -c cluster.yaml -s stats --format table
