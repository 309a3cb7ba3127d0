"""The documented shapes, a module a family of resources."""
