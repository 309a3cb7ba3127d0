# ruff: noqa: S608 - statements are made of SQL in this package
"""The rule of usages, of gift cards and of vouchers: rows and journals agree part by part."""

from store.ledger.verification.rule import MINOR, Rule, differences, is_checked

PARTS = "usage_id, kind, owner_id, partner_id, value, net, commission, fee, vat, promotion"


def usages_rule(
    name: str, title: str, *, table: str, owner: str, role: str, cancelled: str = "NOT u.is_active"
) -> Rule:
    """The rule that usages in `table` are posted. Each leads with `<owner>_id` to what was used, whose account has
    `role`. `cancelled` is the SQL of what is posted back as a whole.
    """
    commission, fee = (
        "u.commission_amount - u.commission_vat_amount",
        "u.management_fee_amount - u.management_fee_vat_amount",
    )
    vat, fees = "u.commission_vat_amount + u.management_fee_vat_amount", "u.commission_amount + u.management_fee_amount"
    rows = f"""
        SELECT u.id::text AS usage_id, k.kind, u.{owner}_id::bigint AS owner_id, u.partner_id,
            {MINOR.format(amount="u.value_amount")} AS value, {MINOR.format(amount="u.net_amount")} AS net,
            {MINOR.format(amount=commission)} AS commission, {MINOR.format(amount=fee)} AS fee, {MINOR.format(amount=vat)} AS vat,
            CASE u.fees_paid_by WHEN 'marketplace' THEN {MINOR.format(amount=fees)} ELSE 0 END AS promotion,
            {is_checked("c.book_id", "coalesce(u.cancelled_on, u.recorded_on)")} AS is_checked
        FROM {table} u JOIN {owner} c ON c.id = u.{owner}_id JOIN ledger_book b ON b.id = c.book_id
        CROSS JOIN (VALUES ('capture'), ('reversal')) AS k (kind)
        WHERE (k.kind = 'capture' OR {cancelled}) AND u.value_amount > 0
    """
    posted = f"""
        SELECT j.source_id, j.kind, max(a.owner_id) FILTER (WHERE a.role = '{role}'), j.partner_id,
            {_sum(f"a.role = '{role}'")} * s.sign, -{_sum("a.role IN ('partner_network', 'owed_by_partner')")} * s.sign,
            -{_sum("a.role = 'commission'")} * s.sign, -{_sum("a.role = 'management_fees'")} * s.sign,
            -{_sum("a.role = 'vat_on_commission'")} * s.sign, {_sum("a.role = 'promotion'")} * s.sign,
            {is_checked("j.book_id", "j.effective_on")}
        FROM ledger_journal j JOIN ledger_entry e ON e.journal_id = j.id JOIN ledger_account a ON a.id = e.account_id
        JOIN (VALUES ('capture', 1), ('reversal', -1)) AS s (kind, sign) ON s.kind = j.kind
        WHERE j.source_kind = '{table}' GROUP BY j.id, s.sign
    """
    offender = f"""format('{table} %s: %s of %s by %s, net %s, commission %s, fee %s, VAT %s, promotion %s, %s', usage_id,
        kind, value, partner_id, net, commission, fee, vat, promotion,
        CASE WHEN difference > 0 THEN 'not posted' ELSE 'posted' END)"""
    return Rule(name, title, differences(offender, PARTS, rows, posted))


def _sum(condition: str) -> str:
    return f"coalesce(sum(e.amount) FILTER (WHERE {condition}), 0)::bigint"
