What a query keeps of its output when only some of its tasks have a replica.

  $ ftplan simulate tentative-output --help
  Usage: ftplan simulate tentative-output [OPTIONS] [LOG...]
    Run a query without the tasks that have no replica, and see how much of its answer is left.
    A query really runs, on PySpark: first as it is, which gives the rates of its tasks, then without what
    passes a task that has no replica, as if all these had failed. Accuracy is the part of the entries in all
    windows that are still there. It is held against what output fidelity, key-aligned fidelity and internal
    completeness foretold from rates: which one ranks sets of replicas as the query does, and which one is
    nearest.
    Replicas are those of a plan (--replicas), or chosen for each of --ratios by each --algorithm and
    --metric.
    $ ftplan simulate tentative-output --rate 2000 --users 10000
    $ ftplan simulate tentative-output edits.json.gz --time-column time --key-column page --partition-column channel
  Options:
    --query [top-k|incidents]       top-k = the commonest keys of a log in sliding windows; incidents = a join
                                    of traffic and reported incidents, both made up.  [default: top-k where a
                                    LOG is given]
    --replicas PLAN                 Judge this plan of kind replicate-tasks, instead of planning.
    --ratios X,X,...                Shares of the tasks that get a replica.  [default:
                                    0.1,0.2,0.3,0.4,0.5,0.6,0.7,0.8,0.9]
    --algorithm NAME                Who chooses the replicas, of dynamic-programming, structure-aware, greedy,
                                    exact; repeatable.  [default: the first three]
    --metric NAME                   What it maximises, of output-fidelity, internal-completeness, key-aligned-
                                    fidelity; repeatable.  [default: the first two]
    --parallelism N,N,...           Tasks of each operator.  [default: 8,4,1 for top-k, 8,4,4,1 for incidents]
    --window TIME                   Length of a window.  [default: 1h, 5m]
    --slide TIME                    From one window to the next.  [default: 5m, 10s]
    --k N                           top-k: keys of a window.  [default: 100]  [1<=x<=1000]
    --key-column COLUMN             top-k: the key, such as a page; repeated, columns are joined.  [required]
    --partition-column COLUMN       top-k: by whose hash records go to the first tasks, such as a server.
                                    [default: the key]
    --duration TIME                 incidents: length of the streams.  [default: 10m]
    --rate N                        incidents: locations a second.  [default: 20000]  [1<=x<=10000000]
    --users N                       incidents: people who drive.  [default: 100000]  [1<=x<=10000000]
    --segments N                    incidents: parts of the road network.  [default: 1000]  [1<=x<=1000000]
    --zipf S                        incidents: skew of users over segments.  [default: 0.5]
    --incident-every TIME           incidents: from one to the next.  [default: 2s]
    --jam-share SHARE               incidents: part of them that causes a jam.  [default: 0.5]
    --seed N                        Seed of the traffic and of planners.  [default: 0; 0<=x<=2147483647]
    --input-format [auto|parquet|csv|jsonl|regex]
                                    What LOG is; auto: by ending.  [default: auto]
    --pattern REGEX                 For regex: what a line holds, as Python's re.search finds it; (?P<name>…)
                                    is a column. Lines without it are rejected. Lookaround, references and \b
                                    are refused: engines differ there.
    --delimiter CHARACTER           What parts the fields of a CSV line.  [default: ,]
    --csv-column COLUMN             Names of the columns of a CSV without header.
    --max-rejects NUMBER            Most rows that may be rejected, as a share.  [default: 0.01]
    --time-column COLUMN            When the record was; repeated, columns are joined: year, month, day, HHMM.
    --time-format FORMAT            epoch-s, epoch-ms, epoch-us, iso, a strptime format (it has a %) or a
                                    Spark datetime pattern. Names of weekdays are passed over, also wrong
                                    ones.  [default: by looking: numbers, ISO, the common log format, asctime,
                                    HTTP's, Log4j's, syslog's]
    --year YEAR                     Of times without a year.  [default: the twelve months until the log was
                                    last written]  [1<=x<=9999]
    --from UTC                      Reject records before this.
    --to UTC                        Reject records at or after this.
    --engine [auto|spark|sail]      auto: Apache Spark where Java is found, else Sail, which needs none.
                                    [default: auto]
    --master URL                    local[*], spark://…, yarn, k8s://…, sc://… (Spark Connect).  [default:
                                    local[*]]
    --topology-output FILE          Also write the query as a topology, with its measured rates.
    --plot FILE                     Draw accuracy over what was foretold, as .svg or .png.
    -o, --output FILE               Write JSON here; - is standard output.  [default: -]
    --force                         Overwrite an existing output.
    --format [json|table|markdown]  How standard output looks.  [default: table on a terminal, else json]
    --no-progress                   No progress bar.
    -q, --quiet                     Only the answer and errors.
    -v, --verbose                   Say on standard error what is read and how long it takes.
    --debug                         Show the trace of an error.
    -h, --help                      Show this message and exit.
  $ ftplan simulate tentative-output -q --engine sail --rate 40 --users 200 --segments 30 --duration 60s --window 20s --slide 5s --ratios .3,.7 --algorithm structure-aware --format markdown --topology-output query.yaml --plot kept.svg
  **what sets of replicas keep**
  | replicated | replicas | algorithm | metric | accuracy | output fidelity | key-aligned fidelity | internal completeness |
  |---|---:|---|---|---:|---:|---:|---:|
  | 30% | 5 | structure-aware | output-fidelity | 0.322 | 0.322 | 0.322 | 0.254 |
  | 30% | 5 | structure-aware | internal-completeness | 0 | 0 | 0 | 0.4446 |
  | 70% | 9 | structure-aware | output-fidelity | 0.6102 | 0.6102 | 0.6102 | 0.5237 |
  | 70% | 11 | structure-aware | internal-completeness | 0 | 0 | 0 | 0.9063 |
  **how well it was foretold**
  | measure | Spearman | Kendall | mean error | mean excess |
  |---|---:|---:|---:|---:|
  | output fidelity | 1 | 1 | 0 | 0 |
  | key-aligned fidelity | 1 | 1 | 0 | 0 |
  | internal completeness | -0.2108 | -0.1826 | 0.3764 | 0.2991 |
  incidents: 59 entries in 9 windows, 4 different sets of replicas
  best ranks (Spearman): output fidelity, key-aligned fidelity
  best ranks (Kendall): output fidelity, key-aligned fidelity
  least error: output fidelity, key-aligned fidelity
  $ grep -c '</svg>' kept.svg
  1
  $ ftplan check query.yaml -q --format markdown
  | file | kind | holds | warnings |
  |---|---|---|---:|
  | query.yaml | topology | 4 operators, 17 tasks, 3 edges, 24 key groups, 1 outputs | 0 |
  $ ftplan replicate-tasks -q -t query.yaml --budget 9 -o plan.json
  $ ftplan simulate tentative-output -q --engine sail --rate 40 --users 200 --segments 30 --duration 60s --window 20s --slide 5s --replicas plan.json --format markdown
  **what sets of replicas keep**
  | replicated | replicas | algorithm | metric | accuracy | output fidelity | key-aligned fidelity | internal completeness |
  |---|---:|---|---:|---:|---:|---:|---:|
  | 53% | 9 | (given) | – | 0.6102 | 0.6102 | 0.6102 | 0.5237 |
  **how well it was foretold**
  | measure | Spearman | Kendall | mean error | mean excess |
  |---|---:|---:|---:|---:|
  | output fidelity | – | – | 0 | 0 |
  | key-aligned fidelity | – | – | 0 | 0 |
  | internal completeness | – | – | 0.0865 | -0.0865 |
  incidents: 59 entries in 9 windows, 1 different sets of replicas
  least error: output fidelity, key-aligned fidelity
  $ ftplan simulate tentative-output -q --engine sail --rate 40 --users 200 --segments 30 --duration 60s --window 20s --slide 5s --replicas plan.json -o out.json
  $ ftplan check out.json -q --format markdown
  | file | kind | holds | warnings |
  |---|---|---|---:|
  | out.json | simulation | 0 warnings | 0 |
