"""Orders are found by a part of their buyer's name, e-mail address or company."""

from alembic import op

revision = '0077'
down_revision = '0076'
branch_labels = None
depends_on = None

TEXT = (
    "search_text(buyer_first_name || ' ' || buyer_last_name || chr(10) || buyer_email || chr(10) "
    "|| coalesce(billing_company_name, ''))"
)


def upgrade() -> None:
    op.execute(f'ALTER TABLE shop_order ADD COLUMN buyer_text text NOT NULL GENERATED ALWAYS AS ({TEXT}) STORED')
    op.execute("CREATE INDEX shop_order_search_idx ON shop_order USING gin ((search_grams('b', buyer_text)))")


def downgrade() -> None:
    op.execute('DROP INDEX shop_order_search_idx')
    op.drop_column('shop_order', 'buyer_text')
