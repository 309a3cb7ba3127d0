"""The users of the demo data and their public password. Imports nothing: each start in production looks for them."""

PASSWORD = "coffret-demo"  # noqa: S105 - public; production refuses the demo data for this reason
PARTNER_USERS = ("partner@demo.localhost", "partner2@demo.localhost")
MARKETPLACE_USER, MASTER_USER = "marketplace@demo.localhost", "master@demo.localhost"
USERNAMES = (*PARTNER_USERS, MARKETPLACE_USER, MASTER_USER)
LARGE_PARTNER_USER = "large@demo.localhost"
