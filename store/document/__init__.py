"""Printable documents: vouchers and gift cards on a sheet of paper, as PDF."""
