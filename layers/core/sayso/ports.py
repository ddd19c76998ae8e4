"""What the use cases need from the world, as protocols.

Each has an adapter for AWS and one in memory (``sayso.testing``); the same contract suite runs on
both. Ports raise errors of ``sayso.domain.errors`` only, and speak in domain values.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime, timedelta

    from sayso.domain.access import ApiKey
    from sayso.domain.form import WholeForm
    from sayso.domain.ids import FormId, RunId
    from sayso.domain.links import Link, Purpose
    from sayso.domain.run import EventDraft
    from sayso.domain.segment import Operation, OperationRecord, SegmentResult, SegmentWork
    from sayso.domain.uploads import RemoteFile

Item = dict[str, Any]
"""Attributes of one item: str, int, bool, bytes, None, and lists and dicts of these."""


class Key(NamedTuple):
    """Primary key of an item."""

    pk: str
    sk: str


# --- conditions: data, so that every table means the same by them ---------------------------


@dataclass(frozen=True, slots=True)
class Missing:
    """The attribute is not there. ``Missing("pk")``: the item is not there."""

    attribute: str


@dataclass(frozen=True, slots=True)
class Exists:
    """The attribute is there."""

    attribute: str


@dataclass(frozen=True, slots=True)
class Equals:
    """The attribute has this value."""

    attribute: str
    value: str | int | bool


@dataclass(frozen=True, slots=True)
class OneOf:
    """The attribute has one of these values (1 to 100)."""

    attribute: str
    values: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Above:
    """The attribute is there and greater than the value."""

    attribute: str
    value: int


@dataclass(frozen=True, slots=True)
class AtMost:
    """The attribute is there and not greater than the value."""

    attribute: str
    value: int


@dataclass(frozen=True, slots=True)
class AnyOf:
    """At least one part holds."""

    parts: tuple[Condition, ...]


Condition = Missing | Exists | Equals | OneOf | Above | AtMost | AnyOf


@dataclass(frozen=True, slots=True, kw_only=True)
class Put:
    """Write a whole item."""

    item: Item
    when: tuple[Condition, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Update:
    """Change some attributes of an item; makes the item when it is missing and allowed to."""

    key: Key
    set: Mapping[str, Any] = field(default_factory=dict)
    remove: tuple[str, ...] = ()
    add: Mapping[str, int] = field(default_factory=dict)
    when: tuple[Condition, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Delete:
    """Take an item away."""

    key: Key
    when: tuple[Condition, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """Change nothing, but let the transaction fail when a condition does not hold."""

    key: Key
    when: tuple[Condition, ...]


Write = Put | Update | Delete | Check

ATTEMPT = "attempt"
"""Attribute in which each item carries the attempt that wrote it last (DESIGN decision 5, I13)."""


def stamped(write: Write, attempt: str) -> Write:
    """Return the write with the attempt id in what it stores; every table carries out only these.

    A write whose answer was lost is recognised as one's own by it.
    """
    match write:
        case Put():
            return replace(write, item={**write.item, ATTEMPT: attempt})
        case Update():
            return replace(write, set={**write.set, ATTEMPT: attempt})
        case Delete() | Check():
            return write


class Table(Protocol):
    """The one table. Reads are strongly consistent, except of the indexes.

    All methods may raise ``ThrottledError`` and ``ServiceUnavailableError``; after these a write
    may or may not have landed.
    """

    def get(self, key: Key) -> Item | None:
        """Return the item, or None."""

    def get_many(self, keys: Sequence[Key]) -> list[Item | None]:
        """Return items, or None where there is none, in the order of 1 to 100 different keys.

        Each is read strongly consistent, but not all at one instant.
        """

    def query(
        self,
        pk: str,
        *,
        prefix: str = "",
        after: str | None = None,
        limit: int | None = None,
        newest_first: bool = False,
    ) -> list[Item]:
        """Return items of one partition in the order of ``sk``.

        Args:
            pk: The partition.
            prefix: Only items whose ``sk`` starts with this.
            after: Only items behind this ``sk``; it must start with ``prefix``.
            limit: At most this many; None: all.
            newest_first: In descending order; not together with ``after``.
        """

    def write(self, write: Put | Update | Delete, *, attempt: str) -> Item | None:
        """Carry out one write and return the item after it (None after a delete).

        Raises:
            ConditionFailedError: With the old item.
        """

    def transact(self, writes: Sequence[Write], *, attempt: str) -> None:
        """Carry out 1 to 100 writes to different items, all or none.

        Raises:
            ConditionFailedError: With the old items of the writes that were the reason.
        """

    def put_many(self, items: Sequence[Item]) -> None:
        """Write items without conditions and without atomicity."""

    def delete_many(self, keys: Sequence[Key]) -> None:
        """Delete items without conditions and without atomicity."""

    def due(self, shard: int, *, until: int, limit: int) -> list[Key]:
        """Return keys of items of a shard with ``due_at`` ≤ ``until``, oldest first. A hint."""

    def listing(self, listing_key: str, *, after: int = -1, limit: int = 100) -> list[Key]:
        """Return keys with that ``listing_key`` made after an instant, oldest first. A hint."""


class ObjectStore(Protocol):
    """Write-once objects."""

    def put_once(self, key: str, data: bytes) -> None:
        """Store bytes. The same key means the same bytes: a second put is success."""

    def get(self, key: str) -> bytes | None:
        """Return the bytes, or None."""

    def delete_prefix(self, prefix: str) -> None:
        """Delete all objects whose key starts so, all versions included."""


class CredentialVault(Protocol):
    """Seals the credentials of a request while they are stored."""

    def seal(self, run_id: RunId, plain: bytes) -> bytes:
        """Return what may be stored."""

    def open(self, run_id: RunId, sealed: bytes) -> bytes:
        """Return what was sealed for this very run."""


class WorkQueue(Protocol):
    """Messages to our own workers. They carry ids only; losing one is healed by the sweep."""

    def start(self, run_id: RunId) -> None:
        """Ask for the first segment of a run."""

    def resume(self, run_id: RunId) -> None:
        """Ask to resume a run if all its forms have ended."""

    def continue_(self, run_id: RunId, *, delay: timedelta | None = None) -> None:
        """Ask for another worker on the current segment. ``delay`` is at most 15 minutes."""

    def time_out(self, form_ids: Sequence[FormId], *, delay: timedelta) -> None:
        """Ask to look at forms when their deadline is near; ``delay`` is at most 15 minutes."""

    def mail(self, form_ids: Sequence[FormId]) -> None:
        """Ask to deliver forms to their recipients."""


class Timers(Protocol):
    """One-time schedules; a late or double firing finds nothing to do."""

    def at(self, name: str, when: datetime, message: Mapping[str, str]) -> None:
        """Let ``message`` reach the sweep at an instant. An existing name is success.

        Args:
            name: At most 64 of ``[0-9a-zA-Z-_.]``; the same name, the same schedule.
            when: Aware; the precision is a minute.
            message: What the sweep function gets.
        """


@dataclass(frozen=True, slots=True, kw_only=True)
class OutgoingMail:
    """One mail, ready to send."""

    to: str
    raw: bytes
    """The whole MIME message."""
    tags: Mapping[str, str]
    """Name → value, ``[A-Za-z0-9_-]``; come back with bounces."""


class Mailer(Protocol):
    """Sends mails."""

    def send(self, mail: OutgoingMail) -> str:
        """Send and return the service's message id.

        Raises:
            MailNotAcceptedError: Not now.
            MailRefusedError: Never.
        """


@dataclass(frozen=True, slots=True, kw_only=True)
class RenderedContent:
    """What the renderer makes of a definition."""

    blocks: tuple[Any, ...]
    """``ContentBlock`` values."""
    mail_html: str
    sanitiser_version: int


class ContentRenderer(Protocol):
    """Renders and sanitises a form's Markdown, once, when the form is made."""

    def render(self, content: str, field_names: Sequence[str]) -> RenderedContent:
        """Return the content for page and mail; fields that do not occur follow at the end."""


class MailRenderer(Protocol):
    """Makes the approval mail of one recipient."""

    def approval_mail(
        self, whole: WholeForm, *, recipient: int, link: str, now: datetime
    ) -> OutgoingMail:
        """Return the mail, ready to send.

        Raises:
            ValueError: The recipient's address is none.
        """


class Links(Protocol):
    """Makes and checks form tokens."""

    def sign(self, link: Link, purpose: Purpose = ...) -> str:
        """Return the token; without a purpose that of a form link."""

    def verify(self, token: str, purpose: Purpose = ...) -> Link:
        """Return what the token opens.

        Raises:
            UnknownLinkError: Not one of ours.
        """


class RemoteFiles(Protocol):
    """Fetches files of the web whose address somebody else chose."""

    def fetch(self, url: str) -> RemoteFile:
        """Return a file of at most ``MAX_UPLOAD_BYTES``.

        Raises:
            RemoteFileError: It cannot be had, or may not be asked for.
            UploadRefusedError: It is too large.
        """


class Directory(Protocol):
    """Knows the API keys."""

    def find_key(self, secret: str) -> ApiKey | None:
        """Return the record of an API key, or None. Compares in constant time."""


class RateLimiter(Protocol):
    """Counts requests: of one address, and to one form."""

    def count(self, limiter: str, address: str) -> None:
        """Count one request of an address.

        Raises:
            TooManyRequestsError: Over the limit.
        """

    def count_link(self, limiter: str, link: Link) -> None:
        """Count one use of a link, which is one of its form, too.

        Raises:
            TooManyRequestsError: Over the limit of a link or of a form.
        """


class SegmentJournal(Protocol):
    """One worker's access to the journal of a segment. Every method may raise ``SegmentStop``."""

    @property
    def records(self) -> Mapping[str, OperationRecord]:
        """What earlier workers recorded, by operation key."""

    async def mark_started(self, operation: Operation) -> None:
        """Record that the body of a tool call is about to start.

        Raises:
            CancelSeen: A cancel was asked for; do not start.
            LeaseLost: Another worker has the run.
        """

    async def record(
        self, operation: Operation, outcome: Any, events: Sequence[EventDraft]
    ) -> None:
        """Record the result of an operation together with its events, in one transaction."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredCredential:
    """The stack's own credential of a model provider."""

    values: Mapping[str, str] = field(repr=False)
    """Named as in a composition's ``credentials``, such as ``openai_api_key``."""
    hosts: tuple[str, ...]
    """Host names it may be sent to, and no others."""


class AgentRunner(Protocol):
    """Runs agent code for one segment. Implemented by the agent layer."""

    def check(self, work: SegmentWork) -> None:
        """Tell whether this code can resume the run, before its answers are consumed.

        Raises:
            SnapshotRefusedError: It cannot; says why.
        """

    async def run(self, work: SegmentWork, journal: SegmentJournal) -> SegmentResult:
        """Work on the segment to its end. Failures of the agent are a ``Failed`` result.

        Raises:
            SegmentStop: The worker must stop; the run goes on elsewhere.
        """


class Clock(Protocol):
    """Tells the time."""

    def now(self) -> datetime:
        """Return the instant, aware UTC, whole milliseconds."""


class IdSource(Protocol):
    """Draws what must be unpredictable or unique."""

    def run_id(self) -> RunId:
        """Return a new run id, a UUID."""

    def token(self) -> str:
        """Return a new random name for an attempt or a worker."""
