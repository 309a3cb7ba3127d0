"""The venue page: staff with a log-in scan or type a code, see what it is good for, and use it."""
