"""What the page of the holder of a gift card or voucher is made of."""
