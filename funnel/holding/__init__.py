"""The page where the holder of a network's gift card or voucher sees what is left of it, and where it can be used."""
