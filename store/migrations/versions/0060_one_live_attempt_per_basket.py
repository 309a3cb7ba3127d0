"""One live payment attempt per basket and session, whatever is in the basket."""

import sqlalchemy as sa
from alembic import op

revision = '0060'
down_revision = '0059'
branch_labels = None
depends_on = None

NAME, TABLE = 'checkout_attempt_one_live_basket_key', 'checkout_attempt'
LIVE = "state IN ('starting', 'open')"
APART = f"""
    UPDATE checkout_attempt a SET cart_id = gen_random_uuid() FROM checkout_attempt b
    WHERE a.kind = 'gift_cards' AND b.kind = 'vouchers' AND a.{LIVE} AND b.{LIVE}
        AND (a.partner_id, a.cart_id, a.session_digest) = (b.partner_id, b.cart_id, b.session_digest)
"""
"""Two baskets of one id are paid at once, which only addresses written by hand can bring about. Both payments go on."""


def upgrade() -> None:
    op.execute(APART)
    of_baskets = sa.text(f"{LIVE} AND kind IN ('vouchers', 'gift_cards', 'mixed')")
    columns = ['partner_id', 'cart_id', 'session_digest']
    op.create_index(NAME, TABLE, columns, unique=True, postgresql_where=of_baskets)


def downgrade() -> None:
    op.drop_index(NAME, TABLE)
