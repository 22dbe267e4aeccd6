A page of several plans; no file is overwritten by accident.

  $ ftplan recovery-schedule -t topology.yaml -c cluster.yaml --fail zone:a --iterations 5 -o schedule.json -q
  $ ftplan replicate-tasks -t topology.yaml -c cluster.yaml --budget 2 --iterations 5 -o standby.json -q
  $ ftplan report schedule.json standby.json -o page.html -q
  $ head -c 15 page.html
  <!DOCTYPE html>
  $ ftplan report schedule.json -o page.html
  2> ftplan: page.html: exists already; give --force to overwrite it
  [2]
  $ ftplan report schedule.json -o page.html --force --title "What comes back" -q
  $ grep -o "<title>.*</title>" page.html | head -n 1
  <title>What comes back</title>

Plots of single plans.

  $ ftplan recovery-schedule -t topology.yaml -c cluster.yaml --fail zone:a --iterations 5 --plot back.svg -o other.json -q
  $ head -c 38 back.svg
  <?xml version="1.0" encoding="UTF-8"?>
  $ ftplan recovery-schedule -t topology.yaml -c cluster.yaml --fail zone:a --plot back.svg -o third.json
  2> ftplan: back.svg: exists already; give --force to overwrite it
  [2]
  $ ftplan drain-schedule -t topology.yaml -c cluster.yaml --plot rounds.pdf
  2> ftplan: --plot rounds.pdf: expected a name that ends in .svg or .png
  [2]
