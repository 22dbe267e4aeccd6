"""Scale-outs: which operator is a bottleneck, or soon will be, and how it is split."""
