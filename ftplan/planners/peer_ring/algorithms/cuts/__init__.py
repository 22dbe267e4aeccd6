"""Where the arcs of nodes in a fixed order are cut, so that the largest load is least."""
