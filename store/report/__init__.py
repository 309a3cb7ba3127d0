"""Reports: sums over many rows, which the database adds up."""
