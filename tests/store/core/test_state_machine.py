"""State machines: what is listed is allowed, and nothing else."""

import enum
import itertools

import pytest

from schema.bank_account import BankAccountStatus
from schema.core.errors import InvalidTransition
from schema.core.permission import Permission
from store.activation import activations
from store.bank_account import TRANSITIONS as BANK_ACCOUNTS
from store.core.document_steps import DOCUMENT_STEPS
from store.core.state_machine import StateMachine
from store.gift_card.states import TRANSITIONS as GIFT_CARDS
from store.payment import attempts
from store.voucher.states import TRANSITIONS as VOUCHERS

MACHINES = (attempts.TRANSITIONS, activations.TRANSITIONS, BANK_ACCOUNTS, DOCUMENT_STEPS, GIFT_CARDS, VOUCHERS)


class Light(enum.StrEnum):
    """Three states."""

    RED = "red"
    GREEN = "green"
    BROKEN = "broken"


LIGHTS = StateMachine("A light", {Light.RED: {Light.GREEN, Light.BROKEN}, Light.GREEN: {Light.RED}})
SWITCHED = StateMachine("A light", {Light.RED: {Light.GREEN: Permission.USE_VOUCHER}}, asked_for=True)


def test_what_is_listed_is_allowed() -> None:
    assert [pair for pair in itertools.product(Light, repeat=2) if LIGHTS.allows(*pair)] == [
        (Light.RED, Light.GREEN),
        (Light.RED, Light.BROKEN),
        (Light.GREEN, Light.RED),
    ]
    assert LIGHTS.require(Light.RED, Light.GREEN) is Light.GREEN


@pytest.mark.parametrize("old", Light)
def test_no_state_follows_itself_and_a_state_that_is_not_listed_is_final(old: Light) -> None:
    for new in (old, Light.RED) if old is Light.BROKEN else (old,):
        with pytest.raises(RuntimeError, match=rf"A light does not go from {old} to {new}\."):
            LIGHTS.require(old, new)


def test_a_transition_that_a_caller_asks_for_is_refused_to_the_caller() -> None:
    with pytest.raises(InvalidTransition, match="A light cannot go from green to red"):
        SWITCHED.require(Light.GREEN, Light.RED)


def test_who_may() -> None:
    assert SWITCHED.permission(Light.RED, Light.GREEN) is Permission.USE_VOUCHER
    assert SWITCHED.permission(Light.GREEN, Light.RED) is None
    assert LIGHTS.permission(Light.RED, Light.GREEN) is None


@pytest.mark.parametrize("machine", MACHINES, ids=lambda machine: machine.thing)
def test_every_state_is_reached_and_none_follows_itself(machine: StateMachine[enum.StrEnum]) -> None:
    following = {new for states in machine.transitions.values() for new in states}
    states = type(next(iter(machine.transitions)))
    assert len(set(states) - following) <= 1, "only the first state follows none"
    assert not any(machine.allows(state, state) for state in states)


def test_a_bank_account_never_goes_back() -> None:
    rank = {"CREATED": 0, "UNKNOWN": 1, "PENDING": 1, "ACTIVE": 2, "CANCELLED": 2, "DEACTIVATED": 3}
    for old, new in itertools.product(BankAccountStatus, repeat=2):
        assert BANK_ACCOUNTS.allows(old, new) is (old is not new and rank[new.name] >= rank[old.name])
