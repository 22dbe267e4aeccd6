"""One recovery step: a set-union knapsack, its bounds and its searches."""
