"""The page where the holder of a link pays a payment or a payment request."""
