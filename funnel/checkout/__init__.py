"""The steps of the checkout: each module shows one, and takes its forms."""
