"""Why there is no rebalance, and the smallest change with which there is one."""
