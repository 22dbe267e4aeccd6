"""What a peer ring is planned from: who is on it, what key groups weigh, what fails, and what times follow."""
