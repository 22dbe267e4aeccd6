The rules that come with ftplan.

  $ ftplan scale-out --print-rules
  # How "ftplan scale-out" scores how near a task is to being a bottleneck, from 0 to 100. These are the rules that come
  # with ftplan; change a copy, and give it with --rules FILE ("ftplan check FILE" reads it). They are ours: the paper
  # that this way of scoring follows gives none.
  #
  # inputs   What is known of a task in a window, in percent. What the statistics do not say is left out, and so is what
  #          the file leaves out: counts are of the other inputs, and a rule that needs it does not hold.
  #            cpu     of its time that it was at work
  #            memory  of the memory that it may hold
  #            data    records that it processed or that wait for it, of those that it can process in a window
  #          Each has labels. A label is a trapezoid, [start, top, last, end]: its degree is 0 up to start, rises to 1 at
  #          top, falls from last on, and is 0 from end on; or a triangle, [start, top, end].
  # score    Labels of the score, in the same way.
  # rules    What follows from what:
  #            if CONDITION then LABEL, or: otherwise LABEL   (as far as no other rule holds)
  #          A condition is one of these, or several joined by "and", "or", "not" and parentheses ("and" binds closer):
  #            cpu is high       data is not low
  #            all high          any high          none high          (of the inputs)
  #            two or more high  exactly two high
  #          "and" is the least degree, "or" the largest, "not" what is missing to 1, "two or more" the second largest.
  #
  # Every label of the score is cut at the largest degree of its rules; the score is the centre of gravity of what is
  # left. As the outer labels have a width, no score is 0 or 100: with these rules they lie between 20.42 and 79.58, and
  # a threshold outside is refused.
  format: ftplan/bottleneck-rules
  format_version: "1.0"
  inputs:
    cpu:
      low: [0, 0, 30, 50]
      medium: [30, 50, 70]
      high: [50, 70, 100, 100]
    memory:
      low: [0, 0, 30, 50]
      medium: [30, 50, 70]
      high: [50, 70, 100, 100]
      full: [90, 100, 100]
    data:
      low: [0, 0, 30, 50]
      medium: [30, 50, 70]
      high: [50, 70, 100, 100]
  score:
    under: [0, 0, 30, 50]
    normal: [30, 50, 70]
    over: [50, 70, 100, 100]
  rules:
    - if two or more high then over
    - if data is high and cpu is not low then over
    - if memory is full then over
    - if two or more low and none high then under
    - otherwise normal
