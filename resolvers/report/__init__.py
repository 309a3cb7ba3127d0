"""Reports: sales of a period, and what is owed for gift cards."""
