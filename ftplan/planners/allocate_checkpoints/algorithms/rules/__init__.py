"""What couples the key groups, the least limits that can be kept, and why none can be."""
