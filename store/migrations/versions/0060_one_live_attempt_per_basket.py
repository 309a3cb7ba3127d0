"""One live payment attempt per cart or basket and session, whatever is in the basket."""

import sqlalchemy as sa
from alembic import op

revision = '0060'
down_revision = '0059'
branch_labels = None
depends_on = None

NAME, TABLE = 'checkout_attempt_one_live_key', 'checkout_attempt'
LIVE = "state IN ('starting', 'open')"
SOURCE = "(CASE WHEN kind IN ('products', 'network') THEN kind ELSE 'basket' END)"
APART = f"""
    UPDATE checkout_attempt a SET cart_id = gen_random_uuid() FROM checkout_attempt b
    WHERE a.kind = 'gift_cards' AND b.kind = 'vouchers' AND a.{LIVE} AND b.{LIVE}
        AND (a.partner_id, a.cart_id, a.session_digest) = (b.partner_id, b.cart_id, b.session_digest)
"""
"""Two baskets of one id are paid at once, which only addresses written by hand can bring about. Both payments go on."""


def upgrade() -> None:
    op.execute(APART)
    op.drop_index(NAME, TABLE)
    columns = ['partner_id', sa.text(SOURCE), 'cart_id', 'session_digest']
    op.create_index(NAME, TABLE, columns, unique=True, postgresql_where=sa.text(LIVE))


def downgrade() -> None:
    op.drop_index(NAME, TABLE)
    columns = ['partner_id', 'kind', 'cart_id', 'session_digest']
    op.create_index(NAME, TABLE, columns, unique=True, postgresql_where=sa.text(LIVE))
