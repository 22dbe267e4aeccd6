What is wrong with a pattern, a format of times or an option is said before anything starts.

  $ echo '10.0.0.1 [10/Oct/2000:13:55:36 -0700] "GET /a"' > access.log
  $ ftplan compute-stats access.log -o out --input-format regex --time-column when --operator o
  2> ftplan: --input-format regex needs --pattern: a regular expression with a named group for each column, such as (?P<host>\S+)
  [2]
  $ ftplan compute-stats access.log -o out --input-format regex --pattern '(?P<when>[^]' --time-column when --operator o
  2> ftplan: --pattern: unterminated character set at character 10 of '(?P<when>[^]'
  [2]
  $ ftplan compute-stats access.log -o out --input-format regex --pattern '(?P<when>\S+)(?= )' --time-column when --operator o
  2> ftplan: --pattern holds lookahead or lookbehind, (?=…) or (?<=…): RE2, which reads the lines, does not know it as Python does; write it without
  [2]
  $ ftplan compute-stats access.log -o out --input-format regex --pattern '(?P<when>\d+)\b' --time-column when --operator o
  2> ftplan: --pattern holds \b: RE2, which reads the lines, does not know it as Python does; write it without
  [2]
  $ ftplan compute-stats access.log -o out --input-format regex --pattern '(?P<when>\S+)' --time-column time --operator o
  2> ftplan: --pattern: no group 'time'; it has when
  [2]
  $ ftplan compute-stats access.log -o out --input-format csv --pattern '(?P<when>\S+)' --time-column when --operator o
  2> ftplan: --pattern is for --input-format regex: a regular expression with a named group for each column, such as (?P<host>\S+)
  [2]
  $ ftplan compute-stats access.log -o out --time-format '%Y %U' --time-column when --operator o
  2> ftplan: --time-format: %U of '%Y %U': weeks are not read; give a day, as %j, or %m and %d
  [2]
  $ ftplan compute-stats access.log -o out --time-format '%Y-%m-%d %Q' --time-column when --operator o
  2> ftplan: --time-format: '%Q' of '%Y-%m-%d %Q' is no directive; known are %A %a %B %b %c %D %d %e %F %f %H %h %I %j %M %m %p %R %S %s %T %u %w %X %x %Y %y %Z %z
  [2]
  $ ftplan compute-stats access.log -o out --input-format kafka-log-dirs --time-column when
  2> ftplan: --time-column: kafka-log-dirs knows its columns; leave the option out
  [2]
  $ ftplan compute-stats access.log -o out --application-id shop --time-column when --operator o
  2> ftplan: --application-id is for --input-format kafka-log-dirs
  [2]
