What is no plan, what-if result or evaluation is refused in a line.

  $ ftplan report
  2> ftplan: report: Missing argument 'PLAN... [WHAT-IF...] [EVALUATION...]'.
  [2]
  $ ftplan report missing.json -o page.html
  2> ftplan: missing.json: no such file
  [2]
  $ ftplan report topology.yaml -o page.html
  2> ftplan: topology.yaml: format: this is a topology file (ftplan/topology); expected ftplan/plan, ftplan/evaluation or ftplan/what-if-result
  [2]
  $ ftplan recovery-schedule -t topology.yaml -c cluster.yaml --fail zone:a --iterations 5 -o schedule.json -q
  $ ftplan report schedule.json -o page.html --max-tasks 5000
  2> ftplan: report: Invalid value for '--max-tasks': 5000 is not in the range 0<=x<=2000.
  [2]
  $ ftplan report schedule.json -o nowhere/page.html
  2> ftplan: nowhere/page.html: its folder 'nowhere' does not exist; make it first
  [2]
  $ ftplan report schedule.json -o page.html -t missing.yaml
  2> ftplan: missing.yaml: no such file; `ftplan import-topology SOURCE --from ENGINE -o topology.yaml --cluster-output cluster.yaml` makes it
  [2]
