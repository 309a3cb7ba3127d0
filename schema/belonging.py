"""Whose something is: what inputs say of it, wherever they ask."""

FOR_WHOM = "For which partner; a partner's own users may leave it out."
STAYS = "The partner that it belongs to; it cannot be moved."
MARKETPLACE = "The marketplace it is made in; only who sees several has to say."
