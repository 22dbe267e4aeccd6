"""The whole repair as one scheduling problem: which task starts where, and in which order state is fetched."""
