The interval that loses least, by costs that were measured.

  $ python3 -c "print('format: ftplan/recovery-costs\nformat_version: 1.0\nstate: local\nparameters:\n  detection_s: {value: 45, low: 40, high: 50}\n  restart_s: {value: 20}\n  replay_share: {value: 0.5}\n  capacity_records_s: {value: 4}\nfitted_on: {recoveries: 9, rates: [1, 3], intervals_s: [10, 300]}')" > costs.yaml
  $ ftplan checkpoint-interval -t topology.yaml --costs costs.yaml --checkpoint-cost 1s --mtbf 12h --format table
  checkpoint interval
  best interval, s          294.4
  a recovery then takes, s  277.2
  lost in an hour, s        35.18
  failures a day                2
  shortest interval, s          2
  smallest recovery, s        131
         interval, s  recovery, s  checkpoints, s/h  recoveries, s/h  lost, s/h
                  10          135             358.9            11.23      370.1
                  20          140             179.4            11.65      191.1
                  30          145             119.6            12.06      131.7
                  60          160             59.78            13.31      73.09
                 120          190             29.87             15.8      45.67
  Young        293.9          277             12.17            23.01      35.18
  Daly         294.3        277.1             12.16            23.02      35.18
  best         294.4        277.2             12.15            23.03      35.18
                 300          280             11.92            23.26      35.18
                 600          430             5.941            35.66       41.6
                 900          580             3.947            48.01      51.96
               1,800        1,030             1.953            84.82      86.77
               3,600        1,930            0.9563            157.3      158.2
               7,200        3,730            0.4586            297.8      298.3
  parameter    at its limit  value  best interval, s  lost, s/h  lost beyond that, s/h
  detection_s  low              40             294.4      34.35                      0
  detection_s  high             50             294.4         36                      0
  $ ftplan checkpoint-interval -t topology.yaml --costs costs.yaml --checkpoint-cost 1s --mtbf 12h --max-recovery 200s -o interval.json
  2> checkpoint interval
  2> best interval, s                                140
  2> a recovery then takes, s                        200
  2> lost in an hour, s                            42.22
  2> failures a day                                    2
  2> shortest interval, s                              2
  2> smallest recovery, s                            131
  2> longest with recoveries within 200 s (binds)    140
  2>            interval, s  recovery, s  checkpoints, s/h  recoveries, s/h  lost, s/h
  2>                     10          135             358.9            11.23      370.1
  2>                     20          140             179.4            11.65      191.1
  2>                     30          145             119.6            12.06      131.7
  2>                     60          160             59.78            13.31      73.09
  2>                    120          190             29.87             15.8      45.67
  2> best               140          200              25.6            16.63      42.22
  2> Young            293.9          277             12.17            23.01      35.18
  2> Daly             294.3        277.1             12.16            23.02      35.18
  2> unlimited        294.4        277.2             12.15            23.03      35.18
  2>                    300          280             11.92            23.26      35.18
  2>                    600          430             5.941            35.66       41.6
  2>                    900          580             3.947            48.01      51.96
  2>                  1,800        1,030             1.953            84.82      86.77
  2>                  3,600        1,930            0.9563            157.3      158.2
  2>                  7,200        3,730            0.4586            297.8      298.3
  2> parameter    at its limit  value  best interval, s  lost, s/h  lost beyond that, s/h
  2> detection_s  low              40               160      39.02                  2.376
  2> detection_s  high             50               120      46.49                      –
  2> ftplan: recoveries within 200 s bind: 294.439 s would lose 7.05 s an hour less, with recoveries of 277.22 s
  $ ftplan checkpoint-interval --costs costs.yaml --rate 3.5 --checkpoint-cost 1s --failures-per-day 2 --max-recovery 60s -o none.json
  2> ftplan: warning: the recovery costs were fitted on 1 to 3 records/s, the job has 3.5: durations are a guess [OUTSIDE_FITTED_RANGE]
  2> checkpoint interval
  2> best interval, s                               –
  2> a recovery then takes, s                       –
  2> lost in an hour, s                             –
  2> failures a day                                 2
  2> shortest interval, s                           8
  2> smallest recovery, s                         548
  2> longest with recoveries within 60 s (binds)    –
  2>            interval, s  recovery, s  checkpoints, s/h  recoveries, s/h  lost, s/h
  2>                     10          555             355.4            45.95      401.4
  2>                     20          590             177.6            48.83      226.4
  2>                     30          625             118.3            51.71        170
  2>                     60          730             58.99            60.32      119.3
  2> unlimited        111.6        910.6             31.59            75.09      106.7
  2>                    120          940             29.35            77.49      106.8
  2> Young            293.9        1,549             11.82            126.8      138.6
  2> Daly             294.3        1,550              11.8            126.9      138.7
  2>                    300        1,570             11.57            128.5      140.1
  2>                    600        2,620             5.647            211.8      217.5
  2>                    900        3,670             3.674            293.2      296.9
  2>                  1,800        6,820             1.708            525.7      527.5
  2> parameter    at its limit  value  best interval, s  lost, s/h  lost beyond that, s/h
  2> detection_s  low              40                 –          –                      –
  2> detection_s  high             50                 –          –                      –
  2> ftplan: no interval keeps recoveries within 60 s: at 8 s, the shortest at which the job keeps up, one takes 548 s
  [1]

What is missing or wrong.

  $ ftplan checkpoint-interval --costs costs.yaml --rate 2 --mtbf 12h
  2> ftplan: --checkpoint-cost: is missing: how much of the job's time does a checkpoint take?
  [2]
  $ ftplan checkpoint-interval --costs costs.yaml --rate 2 --checkpoint-cost 1s
  2> ftplan: how often does the job fail? give one of --mtbf, --failures-per-day, --failure-log
  [2]
  $ ftplan checkpoint-interval --costs costs.yaml --rate 2 --checkpoint-cost 1s --mtbf 12h --failures-per-day 2
  2> ftplan: how often does the job fail? --mtbf and --failures-per-day say it twice: give one of --mtbf, --failures-per-day, --failure-log
  [2]
  $ ftplan checkpoint-interval --costs costs.yaml --rate 4 --checkpoint-cost 1s --mtbf 12h
  2> ftplan: --costs: the job can process 4 records/s and gets 4: it never catches up after a failure
  [1]
  $ ftplan checkpoint-interval --costs topology.yaml --rate 2 --checkpoint-cost 1s --mtbf 12h
  2> ftplan: topology.yaml: format: this is a topology file (ftplan/topology); expected a recovery cost table (ftplan/recovery-costs)
  [2]
  $ ftplan checkpoint-interval --costs costs.yaml --rate 2 --checkpoint-cost 1s --failure-log nothing.csv --nodes 3
  2> ftplan: nothing.csv: no such failure log
  [2]
  $ ftplan checkpoint-interval --costs costs.yaml --rate 2 --checkpoint-cost 1s --mtbf 12h --plot picture.pdf
  2> ftplan: --plot picture.pdf: expected a name that ends in .svg or .png
  [2]
  $ ftplan checkpoint-interval --costs costs.yaml --rate 2 --checkpoint-cost 1s --mtbf 12h --plot picture.svg -q -o interval.json --force
  $ head -c 4 picture.svg
  <?xm
