"""How an older shop asks: the route table, the documented shapes, pages, error bodies, and their description."""
