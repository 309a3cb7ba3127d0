"""Vouchers and gift cards: what they are searched by."""

from alembic import op

revision = "0014"
down_revision = "0013"
branch_labels = None
depends_on = None

GRAMS = """
    CREATE FUNCTION search_grams(letter text, searched text) RETURNS text[]
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
        SELECT coalesce(array_agg(letter || substr(line, n, 3)), '{}')
        FROM string_to_table(searched, chr(10)) line, generate_series(1, length(line) - 2) n
    $$
"""
TEXTS = {
    "name_text": """lower(coalesce(prototype_name ->> 'en', '') || chr(10) || coalesce(prototype_name ->> 'fr', '') || chr(10) || coalesce(prototype_name ->> 'es', '') || chr(10) || coalesce(prototype_name ->> 'it', '') || chr(10) || coalesce(prototype_name ->> 'de', '') || chr(10) || coalesce(prototype_name ->> 'nl', '') || chr(10) || coalesce(prototype_name ->> 'ca', '') || chr(10) || coalesce(prototype_name ->> 'pt', ''))""",
    "gifter_text": """lower(gifter_first_name || ' ' || gifter_last_name || chr(10) || gifter_email)""",
    "giftee_text": """lower(coalesce(giftee_first_name, '') || ' ' || coalesce(giftee_last_name, '') || chr(10) || coalesce(giftee_email, ''))""",
    "origin_text": """lower(origin)""",
}
INDEX = """
    CREATE INDEX voucher_search_idx ON voucher USING gin ((
        search_grams('n', name_text) || search_grams('g', gifter_text) || search_grams('r', giftee_text) || search_grams('o', origin_text)
    ))
"""
GIFT_CARD_TEXTS = {name: TEXTS[name] for name in ("gifter_text", "giftee_text")}
GIFT_CARD_INDEX = """
    CREATE INDEX gift_card_search_idx ON gift_card USING gin ((
        search_grams('g', gifter_text) || search_grams('r', giftee_text)
    ))
"""


def upgrade() -> None:
    op.execute(GRAMS)
    for table, texts in (("voucher", TEXTS), ("gift_card", GIFT_CARD_TEXTS)):
        made = ", ".join(
            f"ADD COLUMN {name} text NOT NULL GENERATED ALWAYS AS ({sql}) STORED" for name, sql in texts.items()
        )
        op.execute(f"ALTER TABLE {table} {made}")
    op.execute(INDEX)
    op.execute(GIFT_CARD_INDEX)
    op.create_index("voucher_ending_idx", "voucher", ["expires_on", "id"], unique=False)
    op.create_index("voucher_newest_idx", "voucher", ["created_on", "id"], unique=False)


def downgrade() -> None:
    op.drop_index("voucher_newest_idx", table_name="voucher")
    op.drop_index("voucher_ending_idx", table_name="voucher")
    op.execute("DROP INDEX gift_card_search_idx")
    for name in GIFT_CARD_TEXTS:
        op.drop_column("gift_card", name)
    op.execute("DROP INDEX voucher_search_idx")
    for name in TEXTS:
        op.drop_column("voucher", name)
    op.execute("DROP FUNCTION search_grams(text, text)")
