"""The whole service in memory on a virtual clock: use cases, queues, timers, sweep."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from sayso.domain.access import ApiKey, Role, Surface
from sayso.domain.errors import RetryableError
from sayso.domain.form import DeliveryState, HtmlBlock
from sayso.domain.ids import AppId, FormId, RunId, TenantId
from sayso.domain.links import Link, LinkSigner
from sayso.domain.policy import HumanInputPolicy
from sayso.domain.run import CancelIntent
from sayso.ports import OutgoingMail, RenderedContent
from sayso.store.keys import DUE_SHARDS
from sayso.store.stores import open_stores
from sayso.testing.clock import FixedClock, SequenceIds
from sayso.testing.faults import FaultHook, around, no_faults
from sayso.testing.queue import QueuedMessage, RecordingQueue
from sayso.testing.table import MemoryTable
from sayso.usecases.cancel_run import cancel_run
from sayso.usecases.context import Context
from sayso.usecases.create_run import CreateRun, MailDefaults, create_run
from sayso.usecases.deliver import Post, deliver_form
from sayso.usecases.open_form import FormAccess
from sayso.usecases.pause_run import Asking
from sayso.usecases.resume_run import resume_run
from sayso.usecases.run_segment import Workshop, run_segment
from sayso.usecases.submit_form import Submission, submit_form
from sayso.usecases.sweep import sweep
from sayso.usecases.time_out import time_out_form
from support.agent import FakeAgent

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from sayso.domain.form import Form, WholeForm
    from sayso.domain.run import Run, RunEvent

TENANT, APP = TenantId("acme"), AppId("refunds")
KEY = ApiKey(id="k1", tenant=TENANT, app=APP, role=Role.ADMIN)
LEASE = timedelta(seconds=45)
RETENTION = timedelta(days=3)
REQUEST: dict[str, Any] = {"composition": {"schema_version": 1, "layers": []}}
MAIL_POLICY: dict[str, Any] = {
    "delivery_methods": [
        {
            "type": "email",
            "config": {"recipients": {"items": [{"type": "external", "email": "a@example.org"}]}},
        }
    ]
}


class PlainRenderer:
    """Implements both renderers; what it makes is recognisable."""

    def render(self, content: str, field_names: Sequence[str]) -> RenderedContent:
        """Return the content as one block."""
        assert all(field_names)
        blocks = (HtmlBlock(html=f"<p>{content}</p>"),)
        return RenderedContent(blocks=blocks, mail_html=content, sanitiser_version=1)

    def approval_mail(
        self, whole: WholeForm, *, recipient: int, link: str, now: datetime
    ) -> OutgoingMail:
        """Return a mail that is only the link."""
        assert now <= whole.form.deadline
        to = whole.recipients[recipient - 1].address
        return OutgoingMail(to=to, raw=link.encode(), tags={"form": whole.form.id})


class Objects:
    """A bucket."""

    def __init__(self, faults: FaultHook = no_faults) -> None:
        self.stored: dict[str, bytes] = {}
        self._faults = faults

    def put_once(self, key: str, data: bytes) -> None:
        """Keep the first bytes."""
        with around(self._faults, "put_object"):
            self.stored.setdefault(key, data)

    def get(self, key: str) -> bytes | None:
        """Return bytes."""
        with around(self._faults, "get_object"):
            return self.stored.get(key)

    def delete_prefix(self, prefix: str) -> None:
        """Forget."""
        self.stored = {key: data for key, data in self.stored.items() if not key.startswith(prefix)}


class OpenVault:
    """Seals nothing."""

    def seal(self, run_id: RunId, plain: bytes) -> bytes:
        """Return the same."""
        assert run_id
        return plain

    def open(self, run_id: RunId, sealed: bytes) -> bytes:
        """Return the same."""
        assert run_id
        return sealed


@dataclass
class Timers:
    """One-time schedules."""

    clock: FixedClock
    faults: FaultHook = no_faults
    entries: dict[str, tuple[datetime, Mapping[str, str]]] = field(default_factory=dict)

    def at(self, name: str, when: datetime, message: Mapping[str, str]) -> None:
        """Keep the first of a name."""
        with around(self.faults, "create_schedule"):
            self.entries.setdefault(name, (when, dict(message)))

    def pop_due(self) -> list[Mapping[str, str]]:
        """Take what is due."""
        now = self.clock.now()
        due = [name for name, (when, _) in self.entries.items() if when <= now]
        return [self.entries.pop(name)[1] for name in due]


@dataclass
class Outbox:
    """Mails that went out."""

    sent: list[OutgoingMail] = field(default_factory=list)
    failures: list[Exception] = field(default_factory=list)
    """Raised by the next sends, first one first."""

    def send(self, mail: OutgoingMail) -> str:
        """Send, or fail as told."""
        if self.failures:
            raise self.failures.pop(0)
        self.sent.append(mail)
        return f"m{len(self.sent)}"


class Killed(BaseException):
    """The death of a process: nobody catches it."""


class World:
    """Use cases over ports in memory."""

    def __init__(self, agent: FakeAgent | None = None, *, faults: FaultHook = no_faults) -> None:
        self.clock = FixedClock()
        self.agent = agent or FakeAgent()
        self.table = MemoryTable(clock=self.clock, faults=faults)
        self.objects = Objects(faults)
        self.queue = RecordingQueue(self.clock, faults=faults)
        self.timers = Timers(self.clock, faults)
        self.outbox = Outbox()
        self.links = LinkSigner({1: b"k" * 32}, current=1)
        self.reports: list[tuple[str, dict[str, object]]] = []
        self.failed_messages = 0
        ids = SequenceIds()
        stores = open_stores(self.table, self.objects, ids, OpenVault(), retention=RETENTION)
        self.context = Context(
            stores=stores, queue=self.queue, clock=self.clock, ids=ids, report=self._report
        )
        renderer = PlainRenderer()
        self.asking = Asking(
            context=self.context,
            renderer=renderer,
            timers=self.timers,
            default_approvers=("default@example.org",),
        )
        self.shop = Workshop(
            context=self.context,
            agent=self.agent,
            asking=self.asking,
            lease=LEASE,
            remaining_seconds=lambda: 900.0,
        )
        self.post = Post(
            context=self.context, links=self.links, mailer=self.outbox, renderer=renderer
        )
        self.defaults = MailDefaults(
            can_mail=True, approvers=("default@example.org",), run_timeout=timedelta(days=7)
        )

    def _report(self, event: str, **facts: object) -> None:
        self.reports.append((event, facts))

    # --- what people and programs do ---

    def create(
        self,
        human_input: dict[str, Any] | None = MAIL_POLICY,
        *,
        key: ApiKey = KEY,
        idempotency_key: str = "",
        **request: Any,
    ) -> RunId:
        """Create a run; ``human_input`` None makes it a protocol run."""
        policy = None if human_input is None else HumanInputPolicy.model_validate(human_input)
        command = CreateRun(
            key=key,
            request=REQUEST | request,
            policy=policy,
            base_url="https://sayso.test",
            idempotency_key=idempotency_key,
        )
        return create_run(command, self.context, self.defaults)

    def submit(
        self, form: Form, action: str = "approve", recipient: int = 1, **values: str
    ) -> Form:
        """Answer on the page."""
        link = Link(form_id=form.id, recipient=recipient, revision=1)
        access = FormAccess(token=self.links.sign(link), surface=Surface.PAGE)
        submission = Submission(action=action, values=values)
        return submit_form(access, submission, self.context, self.links, None)

    def cancel(self, run_id: RunId, reason: str | None = "user") -> None:
        """Cancel through the API."""
        cancel_run(run_id, TENANT, CancelIntent(reason=reason, message=None), self.context)

    # --- what the platform does ---

    def handle(self, message: QueuedMessage) -> None:
        """Let a worker handle one message; infrastructure errors and deaths bring it back."""
        try:
            self.dispatch(message.body)
        except (RetryableError, Killed):
            self.failed_messages += 1
            self.queue.put_back(message)

    def dispatch(self, body: Mapping[str, str]) -> None:
        """Carry out what a message asks for."""
        match body:
            case {"kind": "start", "run_id": run_id}:
                run_segment(RunId(run_id), self.shop)
            case {"kind": "resume" | "continue", "run_id": run_id}:
                resume_run(RunId(run_id), self.shop)
            case {"kind": "timeout", "form_id": form_id}:
                time_out_form(FormId(form_id), self.context)
            case {"kind": "mail", "form_id": form_id}:
                deliver_form(FormId(form_id), self.post)
            case _:
                raise AssertionError(f"unknown message {body}")

    def settle(self, rounds: int = 100) -> None:
        """Handle messages and timers that are due until nothing is left."""
        for _ in range(rounds):
            messages = self.queue.pop_due()
            for message in messages:
                self.handle(message)
            timers = self.timers.pop_due()
            for timer in timers:
                self.dispatch(timer)
            if not messages and not timers:
                return
        raise AssertionError("the queues do not come to rest")

    def sweep(self) -> None:
        """Run one pass of the sweep."""
        sweep(self.asking, has_time=lambda: True, first_shard=0)

    def pass_time(self, span: timedelta, *, step: timedelta = timedelta(minutes=1)) -> None:
        """Let time go by with a sweep and all deliveries every minute."""
        end = self.clock.now() + span
        while self.clock.now() < end:
            self.clock.advance(min(step, end - self.clock.now()))
            self.sweep()
            self.settle()

    # --- what can be seen ---

    def run(self, run_id: RunId) -> Run:
        """Return the run record."""
        run = self.context.stores.runs.get(run_id)
        assert run is not None
        return run

    def forms(self, run_id: RunId) -> list[Form]:
        """Return all forms of a run, in order."""
        pauses = self.context.stores.runs.pauses(run_id)
        ids = itertools.chain.from_iterable(pause.forms.values() for pause in pauses)
        forms = [self.context.stores.forms.get(form_id) for form_id in ids]
        return [form for form in forms if form is not None]

    def events(self, run_id: RunId) -> list[RunEvent]:
        """Return all events."""
        return self.context.stores.events.read(run_id, after=0, limit=10_000)

    def recipient_states(self, form: Form) -> list[DeliveryState]:
        """Return how far each mail got."""
        whole = self.context.stores.forms.whole(form.id)
        assert whole is not None
        mailed = [one for one in whole.recipients if one.address]
        return [one.state for one in mailed]

    def due_keys(self) -> int:
        """Return how many records are in the due-index."""
        return sum(len(self.table.due(s, until=2**60, limit=10_000)) for s in range(DUE_SHARDS))
