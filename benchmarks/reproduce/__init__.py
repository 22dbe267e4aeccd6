"""The papers' figures beside the papers' claims: made again, drawn, and judged by rules beside them."""
