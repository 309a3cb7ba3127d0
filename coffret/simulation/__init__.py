"""A simulated time of trade: real operations against the sandbox provider, compared to the cent with a plain model."""
