"""The documented shapes: one module per family of resources."""
