What a stranger reads.

  $ ftplan collect --help
  Usage: ftplan collect [OPTIONS] URL
    Save what an engine's REST endpoint answers over time, for import-topology, compute-stats and calibrate.
    It finds the jobs and asks for all that they say: plan, configuration, what runs where, metrics of each
    task, checkpoints, exceptions. Each answer is a line of DIR/answers/HOUR.jsonl. Ctrl-C, the end of --for
    and even kill -9 leave what is there; the same command goes on in the same folder. Outages are noted and
    waited for.
    With --from prometheus it asks for what was measured already, in the range of time that --for or --from-
    time and --to-time give; --print-mapping shows the queries. The same command asks only for what is not
    there yet.
    Credentials come from FTPLAN_COLLECT_TOKEN, or FTPLAN_COLLECT_USER and FTPLAN_COLLECT_PASSWORD, of the
    environment; they are never shown or stored. What the engine answers is stored as it is: look what it says
    of your job before you hand the folder on.
    $ ftplan collect http://jobmanager:8081 --from flink --every 60s --for 24h -o collected
    $ ftplan import-topology collected --from flink -o topology.yaml --cluster-output cluster.yaml
    $ ftplan collect http://prometheus:9090 --from prometheus --every 15s --for 24h -o measured
    $ ftplan compute-stats measured --input-format prometheus --key-groups 128 -o stats
  Options:
    --from [flink|storm|prometheus]
                                    What answers at URL.  [default: found by asking]
    -o, --output DIR                The folder: a new one, or one to go on in.  [required]
    --every TIME                    From one poll, or value, to the next.  [default: 60s]
    --for TIME                      How long from now on, and with prometheus how long before now.  [default:
                                    until Ctrl-C]
    --job ID                        Only this job, by id or name; repeatable.
    --metrics PATTERN               Flink: subtasks' metrics whose names match this expression.  [default:
                                    records, bytes, time, state, lag]
    --from-time UTC                 Prometheus: where the range begins.
    --to-time UTC                   Prometheus: where it ends.  [default: now]
    --mapping FILE                  Prometheus: queries and what they mean, beside those that come with ftplan
                                    (see --print-mapping).
    --section NAME                  Prometheus: only this section; repeatable.
    --match MATCHER                 Prometheus: label matcher, job_name="orders"; repeatable.
    --print-mapping                 Print the queries to Prometheus, and what they mean.
    --timeout TIME                  Wait this long for an answer.  [default: 10s]
    --retries N                     Ask again where none came.  [default: 2; 0<=x<=20]
    --ca-file FILE                  Certificates (PEM) that signed the endpoint's own.
    --max-answer SIZE               Leave out answers larger than this.  [default: 64MB]
    --format [json|table|markdown]  How standard output looks.  [default: table on a terminal, else json]
    --no-progress                   No progress bar.
    -q, --quiet                     Only the answer and errors.
    -v, --verbose                   Say on standard error what is read and how long it takes.
    --debug                         Show the trace of an error.
    -h, --help                      Show this message and exit.
