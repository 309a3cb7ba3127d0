"""Passes of vouchers and gift cards for Apple Wallet and Google Wallet."""
