"""How many tasks bottleneck operators get, and with which key ranges on which nodes."""
