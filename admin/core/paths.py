"""Addresses of the back office."""

ROOT = "/admin/"
LOG_IN_PATH = f"{ROOT}log-in/"
LOG_IN_CODE_PATH = f"{LOG_IN_PATH}code/"
FORGOT_PASSWORD_PATH = f"{ROOT}forgot-password/"
RESET_PASSWORD_PATH = f"{ROOT}reset-password/"
ACCOUNT_PATH = f"{ROOT}account/"
SECOND_FACTOR_PATH = f"{ACCOUNT_PATH}second-factor/"
