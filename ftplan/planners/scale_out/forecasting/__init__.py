"""How demand goes on: forecasts that are judged on time that they have not seen, and when a score is reached."""
