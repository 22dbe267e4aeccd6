"""In which order failed tasks come back."""
