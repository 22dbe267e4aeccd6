"""What engines call things: their names, pages and logs, as importers and statistics read them alike."""
