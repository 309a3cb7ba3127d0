"""The venue page: logged-in staff scan or type a code, see whether it is valid, and redeem it."""
