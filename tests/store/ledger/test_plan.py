"""The plan of accounts is whole, and is the documented one."""

import re
from uuid import UUID

from schema.ledger import LedgerAccountRole as Role
from store.ledger.accounts import FLOORED, LedgerAccount
from store.ledger.plan import ACCOUNT_PLAN
from tests.contract.declarations import ROOT

ROW = re.compile(r"^\| (\d{4}) \| `(\w+)` \| ([a-z ]*?) ?\| ?(yes)? ?\|", re.MULTILINE)


def test_each_role_has_a_number_of_its_own() -> None:
    assert set(ACCOUNT_PLAN) == set(Role)
    assert len({account.code for account in ACCOUNT_PLAN.values()}) == len(ACCOUNT_PLAN)
    classes = {role: account.code // 1000 for role, account in ACCOUNT_PLAN.items()}
    sides = {role: LedgerAccount(role).side for role in Role}
    assert {(number, sides[role]) for role, number in classes.items()} == {(1, 1), (2, -1), (4, -1), (6, 1), (9, 1)}


def test_the_documentation_has_the_same_plan() -> None:
    documented = {
        (int(code), role, owner.replace(" ", "_"), bool(floor))
        for code, role, owner, floor in ROW.findall((ROOT / "docs/operating/ledger.md").read_text())
    }
    planned = {(account.code, role.value, account.owner, role in FLOORED) for role, account in ACCOUNT_PLAN.items()}
    assert documented == planned


def test_an_owner_is_named_with_what_it_is() -> None:
    card, dispute = ACCOUNT_PLAN[Role.CARD], ACCOUNT_PLAN[Role.IN_DISPUTE]
    assert card.owner_label(17, None) == "gift_card:17"
    assert dispute.owner_label(None, UUID(int=1)) == f"payment:{UUID(int=1)}"
    assert ACCOUNT_PLAN[Role.PARTNER_HELD].owner_label(3, UUID(int=1)) == f"partner:3:{UUID(int=1)}"
    assert ACCOUNT_PLAN[Role.COMMISSION].owner_label(None, None) == ""
