"""What the back office declares agrees with the schema, with the permissions and with the state machines."""

import pathlib
from collections import Counter
from collections.abc import Iterator
from itertools import product
from types import SimpleNamespace
from typing import Any, cast

import pytest
from graphql import (
    GraphQLEnumType,
    GraphQLInputObjectType,
    GraphQLObjectType,
    get_named_type,
    is_leaf_type,
    is_required_input_field,
    parse,
    validate,
)

import admin.sign_in
from admin.core.titles import titles_of
from admin.forms.current import path_of_reference, selection, source_of
from admin.forms.kinds import InputField, Kind, fields_of, reference_key
from admin.graph.execution import server
from admin.graph.labels import help_of, label_of
from admin.graph.schema_types import access_of, at, field_at, input_of, is_many, list_filter_of, mutations, queries
from admin.graph.selections import leaf_selection, whole_selection
from admin.home.page import TILES
from admin.home.page import _may as may_do
from admin.pages.changes import AROUND, type_of_child
from admin.pages.lists import _document as list_document
from admin.resources.network import NETWORK_GIFT_CARDS, NETWORK_VOUCHERS
from admin.resources.registry import SECTIONS, resources
from admin.resources.resource import FALSE, TRUE, UNSET, Action, Resource
from admin.resources.sales import GIFT_CARDS, ORDERS
from schema.delivery.delivery import DeliveryKind
from schema.order.fulfilment import FulfilmentState
from store.core.state_machine import StateMachine
from store.order.fulfilment import MACHINES

NOT_IN_BACK_OFFICE = {
    "cancelRefundRequestByToken": "Customers do it, on the page of their order.",
    "requestRefundByToken": "Customers do it, on the page of their order.",
    "rescheduleGiftByToken": "Customers do it, on the page of their order.",
    "resendGiftByToken": "Customers do it, on the page of their order.",
    "sendGiftNowByToken": "Customers do it, on the page of their order.",
    "previewOrderRefund": "The refund of an order runs it before it asks to confirm.",
    "previewRefund": "The refund of a payment runs it before it asks to confirm.",
    "obtainToken": "The log-in form runs it.",
    "requestPasswordReset": "The page for forgotten passwords runs it.",
    "resetPassword": "The page of its link runs it.",
    "setUpSecondFactor": "The page of the account runs it.",
    "confirmSecondFactor": "The page of the account runs it.",
    "renewRecoveryCodes": "The page of the account runs it.",
    "revokeToken": "The page of the account runs it.",
    "disableSecondFactor": "The page of the account runs it.",
    "revokeOtherSessions": "The page of the account runs it.",
    "beginPasskey": "The page of the account runs it.",
    "registerPasskey": "The page of the account runs it.",
    "deletePasskey": "The page of the account runs it.",
    "renamePasskey": "A passkey is deleted and registered again under another name.",
    "obtainTokenWithPasskey": "The log-in form runs it.",
    "createExport": "The form of exports above each list runs it.",
    "saveFilter": "The form below the filter of each list runs it.",
    "deleteSavedFilter": "The form below the filter of each list runs it.",
    "importGiftCards": "The page of an import from CSV runs it.",
    "importVouchers": "The page of an import from CSV runs it.",
    "endImpersonation": "The banner of each page runs it.",
    "saveEcommerceCart": "The servers of shops do it, before a checkout.",
    "createMultiProductCart": "The servers of shops do it, before a checkout.",
}
SIGN_IN = pathlib.Path(admin.sign_in.__file__).parent
NOT_SHOWN = {
    "accountLink": "The page of its link reads it.",
    "passkeyOptions": "The log-in form reads it.",
    "passkeys": "The page of the account reads it.",
    "me": "The page of the account reads it.",
    "savedFilters": "Each list shows its own.",
    "sessions": "The page of the account reads it.",
    "ecommerceCart": "The servers of shops read it, before a checkout.",
    "orderByToken": "Customers read it, on the page of their order.",
    "wallet": "The pages of gift cards, payments and partners show wallets.",
}
MOVES = {
    "markOrderReady": FulfilmentState.READY_TO_COLLECT,
    "markOrderCollected": FulfilmentState.COLLECTED,
    "markOrderSent": FulfilmentState.SENT,
    "markOrderDelivered": FulfilmentState.DELIVERED,
    "cancelOrderFulfilment": FulfilmentState.CANCELLED,
    "reopenOrderFulfilment": FulfilmentState.TO_PREPARE,
}
"""The state that each change of an order leads to."""

EVERY_RESOURCE = pytest.mark.parametrize("resource", resources().values(), ids=lambda each: each.slug)


def actions_of(resource: Resource) -> Iterator[tuple[Action, GraphQLObjectType | None]]:
    """All actions of a resource with the type of what they change; None above its list."""
    yield from ((action, resource.type) for action in resource.actions)
    yield from ((action, None) for action in resource.new)
    for child in resource.children:
        yield from ((action, type_of_child(resource, child)) for action in child.actions)


def is_reachable(machine: StateMachine[FulfilmentState], state: FulfilmentState) -> bool:
    """Whether an order that begins to be prepared can come to a state."""
    reached = {FulfilmentState.TO_PREPARE}
    for _ in FulfilmentState:
        reached |= {to for to in FulfilmentState if any(machine.allows(from_, to) for from_ in reached)}
    return state in reached


def problems_of(document: str) -> list[str]:
    """What is wrong with a document."""
    return [error.message for error in validate(server().schema, parse(document))]


def test_every_mutation_is_an_action_or_has_a_reason() -> None:
    reachable = {action.mutation for resource in resources().values() for action, _ in actions_of(resource)}
    assert mutations().keys() - reachable == NOT_IN_BACK_OFFICE.keys()
    assert reachable <= mutations().keys()


def test_pages_of_their_own_run_what_they_are_said_to_run() -> None:
    written = "".join(path.read_text() for path in SIGN_IN.glob("*.py"))
    for name, reason in NOT_IN_BACK_OFFICE.items():
        if reason.endswith("account runs it."):
            assert f'"{name}"' in written


def test_every_query_is_a_list_a_page_or_a_report_or_has_a_reason() -> None:
    reachable = {name for resource in resources().values() for name in (resource.query, resource.finds)}
    reachable |= {it.query for resource in resources().values() for it in (*resource.reports, *resource.list_reports)}
    assert queries().keys() - reachable == NOT_SHOWN.keys()


def test_every_list_has_a_resource() -> None:
    lists = {name for name, field in queries().items() if get_named_type(field.type).name.endswith("Connection")}
    assert lists == {resource.query for resource in resources().values()}
    assert len(resources()) == sum(len(section.resources) for section in SECTIONS), "two have the same address"


@EVERY_RESOURCE
def test_its_documents_are_valid(resource: Resource) -> None:
    assert problems_of(list_document(resource)) == []
    kind = queries()[resource.finds].args[resource.key].type
    whole = whole_selection(resource.type, titles_of)
    find = f"query($key: {kind}) {{ {resource.finds}({resource.key}: $key) {{ %s }} }}"
    assert problems_of(find % whole) == []
    assert get_named_type(queries()[resource.finds].type) is resource.type
    for action, target in actions_of(resource):
        present = "" if target is None else selection(input_of(action.mutation), target)
        if present and target is resource.type:
            assert problems_of(find % present) == [], action.mutation
        elif present:
            (field,) = (each.field for each in resource.children if action in each.actions)
            assert problems_of(find % f"{field} {{ {present} }}") == [], action.mutation


def references_of(
    kind: GraphQLInputObjectType, of: GraphQLObjectType
) -> Iterator[tuple[InputField, GraphQLObjectType, str | None]]:
    """The references with present values: where they are, and the path to what is referred to."""
    for each in fields_of(kind):
        if (found := source_of(each, of)) is None:
            continue
        inner = get_named_type(found[1].type)
        if each.kind in (Kind.GROUP, Kind.ROWS) and isinstance(inner, GraphQLObjectType):
            yield from references_of(each.input, inner)
        elif each.target is not None and isinstance(inner, GraphQLObjectType):
            yield each, inner, path_of_reference(each, inner)


def test_a_form_begins_with_the_keys_of_what_it_refers_to() -> None:
    looked_at = set()
    for resource in resources().values():
        for action, target in actions_of(resource):
            if not action.is_update or target is None:
                continue
            for each, of, path in references_of(input_of(action.mutation), target):
                assert path is not None, f"{action.mutation}.{each.name}"
                assert each.target is not None
                around, _, key = path.rpartition(".")
                led_to = get_named_type(field_at(of, around).type) if around else of
                assert led_to is each.target.type, f"{action.mutation}.{each.name}"
                assert key == reference_key(each.name)
                looked_at.add((of.name, path))
    assert looked_at >= {("PrototypeImage", "media.id"), ("BoxImage", "media.id"), ("BoxPartner", "partner.uuid")}


def test_the_documents_are_looked_at() -> None:
    assert problems_of(list_document(ORDERS).replace("number", "numero")) == [
        "Cannot query field 'numero' on type 'Order'. Did you mean 'number' or 'buyer'?"
    ]


@EVERY_RESOURCE
def test_its_paths_lead_to_values(resource: Resource) -> None:
    assert resource.key in resource.type.fields
    assert resource.title
    assert resource.columns
    for path in (*resource.columns, *resource.title):
        assert leaf_selection(field_at(resource.type, path)) is not None, path
        assert not any(is_many(field.type) for _, field in list(at(resource.type, path))[:-1]), path
    for name in resource.search:
        assert str(list_filter_of(resource.query).fields[name].type) in ("String", "Int"), name
    for child in resource.children:
        assert is_many(resource.type.fields[child.field].type), child.field
        assert "id" in type_of_child(resource, child).fields, child.field


@EVERY_RESOURCE
def test_its_actions_are_given_what_names_their_object(resource: Resource) -> None:
    for action, target in actions_of(resource):
        fields = input_of(action.mutation).fields
        for name, path in action.bound.items():
            around = path.startswith(AROUND)
            of = resource.type if around else target
            assert of is not None, f"{action.mutation} has no object"
            given = field_at(of, path.removeprefix(AROUND)).type
            assert get_named_type(fields[name].type) is get_named_type(given), f"{action.mutation}.{name}"
        assert bool(action.bound) is (target is not None), action.mutation


@EVERY_RESOURCE
def test_the_addresses_of_its_actions_are_its_own(resource: Resource) -> None:
    for where in (resource.actions, resource.new, *(child.actions for child in resource.children)):
        assert [slug for slug, count in Counter(action.slug for action in where).items() if count > 1] == []
    assert "new" not in {action.slug for action, _ in actions_of(resource)}


@EVERY_RESOURCE
def test_its_states_are_those_of_the_schema(resource: Resource) -> None:
    own = {action.mutation for action, _ in actions_of(resource)}
    assert resource.when.keys() <= own
    for action, target in actions_of(resource):
        for path, values in action.when.items():
            assert target is not None
            kind = get_named_type(field_at(target, path).type)
            if not isinstance(kind, GraphQLEnumType):
                assert values in (TRUE, FALSE, UNSET), path
                assert (kind.name == "Boolean") is (values != UNSET), path
                continue
            assert set(values) <= kind.values.keys(), f"{action.mutation}: {path}"
            assert set(values) != kind.values.keys(), f"{action.mutation}: all of {path}"


@pytest.mark.parametrize("mutation", MOVES)
def test_an_order_is_offered_the_changes_that_its_state_allows(mutation: str) -> None:
    (action,) = (each for each in ORDERS.actions if each.mutation == mutation)
    for kind, state in product(DeliveryKind, (None, *FulfilmentState)):
        order = {
            "delivery": {"kind": kind.name},
            "fulfilment": None if state is None else {"state": state.name},
        }
        machine = MACHINES.get(kind)
        if state is not None and (machine is None or not is_reachable(machine, state)):
            continue  # no order is so
        allowed = state is not None and machine is not None and machine.allows(state, MOVES[mutation])
        assert action.is_possible(order) is allowed, (kind, state)


@pytest.mark.parametrize("resource", [GIFT_CARDS, NETWORK_GIFT_CARDS, NETWORK_VOUCHERS], ids=lambda it: it.slug)
def test_what_is_cancelled_or_active_is_not_offered_it_again(resource: Resource) -> None:
    offered = {
        status: {each.mutation for each in resource.actions if each.is_possible({"status": status})}
        for status in ("DRAFT", "PAID", "USED", "CANCELLED")
    }
    by_status = {
        status: {name.removesuffix(resource.type.name) for name in names} & {"activate", "extend", "cancel"}
        for status, names in offered.items()
    }
    assert by_status == {
        "DRAFT": {"activate", "extend", "cancel"},
        "PAID": {"extend", "cancel"},
        "USED": {"cancel"},
        "CANCELLED": set(),
    }


def test_all_changes_of_the_fulfilment_are_looked_at() -> None:
    assert ORDERS.when.keys() == MOVES.keys()
    assert set(MOVES.values()) == set(FulfilmentState)


@EVERY_RESOURCE
def test_every_field_that_a_change_needs_can_be_typed(resource: Resource) -> None:
    for action, _ in actions_of(resource):
        kind = input_of(action.mutation)
        typed = {each.name: each for each in fields_of(kind)}
        assert typed.keys() == kind.fields.keys()
        for name, each in typed.items():
            assert each.is_required is (is_required_input_field(kind.fields[name])), f"{action.mutation}.{name}"
            assert is_leaf_type(each.type) or isinstance(each.type, GraphQLInputObjectType)


def test_a_tile_is_for_whoever_may_do_what_waits() -> None:
    for tile in TILES:
        resource = resources()[tile.slug]
        if not tile.mutation:
            continue
        assert tile.mutation in {action.mutation for action in resource.actions}, tile.label
        needed = access_of(mutations()[tile.mutation])
        assert may_do(cast("Any", SimpleNamespace(view=None, may=lambda access: True)), tile)
        assert not may_do(
            cast("Any", SimpleNamespace(view=None, may=lambda access, needed=needed: access != needed)), tile
        )


def test_labels_and_help_are_for_people() -> None:
    assert [label_of(name) for name in ("logoUrl", "packingSlipUrl", "url")] == ["Logo", "Packing slip", "URL"]
    assert help_of("Whether it is active.", "isActive") == help_of("The discount.", "discount") == ""
    for text in ("Requires `view_order` of the caller.", "Set `stayPrice` too.", "Refused with INVALID_TRANSITION."):
        assert help_of(text, "name") == ""
    assert help_of("VAT in percent, at most 10 MiB.", "name") == "VAT in percent, at most 10 MiB."


def test_the_tiles_of_the_first_page_are_filters_of_lists() -> None:
    for tile in TILES:
        fields = list_filter_of(resources()[tile.slug].query).fields
        for name, value in tile.filter.items():
            kind = get_named_type(fields[name].type)
            assert isinstance(kind, GraphQLEnumType)
            values = value if isinstance(value, list) else [value]
            assert is_many(fields[name].type) is isinstance(value, list), tile.label
            assert set(values) <= kind.values.keys(), tile.label
