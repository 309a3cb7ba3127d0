"""Clients that others generate from the description of the REST interface, and the story of the README told with them."""
