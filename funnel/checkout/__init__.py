"""The steps of the checkout: each module renders one step and processes its forms."""
