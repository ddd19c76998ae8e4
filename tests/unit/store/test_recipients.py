"""Recipients are written once: a late worker changes nothing about them."""

from __future__ import annotations

from sayso.domain.form import DeliveryState, Recipient, RecipientType
from sayso.domain.ids import FormId
from support.world import World

FORM = FormId("6a1f5f0e-5d0c-5c9b-9d5b-0a6c3a5e7b11")


def recipient(number: int, address: str) -> Recipient:
    return Recipient(
        number=number,
        type=RecipientType.EMAIL_EXTERNAL,
        address=address,
        state=DeliveryState.QUEUED,
    )


def test_a_late_worker_does_not_bring_back_what_has_changed_since() -> None:
    world = World()
    recipients = world.context.stores.recipients
    first = [recipient(1, "a@example.org"), recipient(2, "b@example.org")]
    recipients.put(FORM, first, 1)
    claimed = recipients.claim_mail(FORM, first[0], now=world.clock.now())
    before = world.table.query(f"FORM#{FORM}")

    recipients.put(FORM, [*first, recipient(3, "c@example.org")], 1)

    assert claimed is not None
    assert world.table.query(f"FORM#{FORM}") == before


def test_fifty_recipients_are_one_write() -> None:
    world = World()
    fifty = [recipient(number, f"a{number}@example.org") for number in range(1, 51)]

    world.context.stores.recipients.put(FORM, fifty, 1)

    assert len(world.table.query(f"FORM#{FORM}")) == 50
