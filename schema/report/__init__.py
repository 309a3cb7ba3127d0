"""Reports: figures of what was sold, and of what is still owed."""
