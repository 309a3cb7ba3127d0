"""Printable documents: vouchers and gift cards as PDF."""
