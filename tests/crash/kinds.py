"""What can go wrong with one call of one service: the faults of the crash table."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from crash.double.dynamodb import changes
from crash.double.wire import Reply, answer, failure, xml_failure

if TYPE_CHECKING:
    from collections.abc import Callable

    from crash.double.wire import Call
    from crash.moment import Moment
    from crash.stack import Frame

LATE = timedelta(minutes=3)
SLOW = timedelta(seconds=8)
ZOMBIE = timedelta(minutes=3)


def server_error(call: Call) -> Reply:
    """Return "something is wrong on our side"."""
    return (
        xml_failure("InternalError", 500)
        if call.service == "s3"
        else failure("InternalServerError", 500)
    )


def _throttled(call: Call) -> Reply:
    if call.service == "s3":
        return xml_failure("SlowDown", 503)
    ses = call.service == "sesv2"
    return failure("TooManyRequestsException" if ses else "ThrottlingException", 429)


def _crash_before(moment: Moment) -> Reply:
    raise moment.kill()


def _crash_after(moment: Moment) -> Reply:
    moment.carry_out()
    raise moment.kill()


def _outage(moment: Moment) -> Reply:
    moment.frame.down.add(moment.call.service)
    return server_error(moment.call)


def _landed(moment: Moment) -> Reply:
    reply = moment.carry_out()
    if moment.call.attempt == 1:
        raise moment.no_answer()
    return reply


def _lost(moment: Moment) -> Reply:
    moment.carry_out()
    raise moment.no_answer()


def _unknown(moment: Moment) -> Reply:
    moment.carry_out()
    moment.frame.down.add(moment.call.service)
    raise moment.no_answer()


def _conflict(moment: Moment) -> Reply:
    if moment.call.service == "s3":
        return xml_failure("ConditionalRequestConflict", 409)
    if moment.call.operation != "TransactWriteItems":
        return failure("TransactionConflictException")
    reasons = [{"Code": "None"} for _ in moment.call.document["TransactItems"]]
    reasons[0] = {"Code": "TransactionConflict", "Message": "Transaction is ongoing for the item"}
    return failure("TransactionCanceledException", CancellationReasons=reasons)


def _stale(moment: Moment) -> Reply:
    table = moment.stack.cloud.table
    table.behind = True
    try:
        return moment.carry_out()
    finally:
        table.behind = False


def _duplicate(moment: Moment) -> Reply:
    return _with(moment, copies=2)


def _late(moment: Moment) -> Reply:
    return _with(moment, late=LATE)


def _with(moment: Moment, **settings: Any) -> Reply:
    sqs = moment.call.service == "sqs"
    service: Any = moment.stack.cloud.queues if sqs else moment.stack.cloud.schedules
    before = {name: getattr(service, name) for name in settings}
    vars(service).update(settings)
    try:
        return moment.carry_out()
    finally:
        vars(service).update(before)


def _partial(moment: Moment) -> Reply:
    """Leave the last part of a batch undone, once."""
    document = moment.call.document
    match moment.call.operation:
        case "SendMessageBatch":
            failed = {"Id": document["Entries"][-1]["Id"], "Code": "InternalError"}
            return answer({"Successful": [], "Failed": [{**failed, "SenderFault": False}]})
        case "BatchGetItem":
            return answer({"Responses": {}, "UnprocessedKeys": document["RequestItems"]})
        case _:
            return answer({"UnprocessedItems": document["RequestItems"]})


def _vanished(moment: Moment) -> Reply:
    """Take a message and lose it, which SQS does not, and queues that are purged do."""
    queues = moment.stack.cloud.queues
    before = list(queues.messages)
    reply = moment.carry_out()
    queues.messages = before
    return reply


def _twin(moment: Moment) -> Reply:
    """Let the very same event be handled by another process meanwhile."""
    return moment.meanwhile(lambda: _again(moment))


def _again(moment: Moment) -> None:
    with suppress(Exception):  # its message would come again
        moment.stack.invoke(moment.frame.function, moment.frame.event)


def _rival(moment: Moment) -> Reply:
    return moment.meanwhile(moment.gate.rival)


def _slow(moment: Moment) -> Reply:
    return moment.meanwhile(lambda: moment.stack.pass_time(SLOW))


def _zombie(moment: Moment) -> Reply:
    """Let the worker sleep so long that another one takes over and goes on."""
    return moment.meanwhile(lambda: moment.stack.pass_time(ZOMBIE))


@dataclass(frozen=True, slots=True)
class Kind:
    """One way to fail."""

    strike: Callable[[Moment], Reply]
    applies: Callable[[Call, Frame], bool]
    meaning: str


def _any(_call: Call, _frame: Frame) -> bool:
    return True


def is_write(call: Call, _frame: Frame) -> bool:
    """Tell whether a call changes something whose answer may be lost; mails have a fault of their own."""
    match call.service:
        case "dynamodb":
            return changes(call)
        case "secrets-manager":
            return False
        case "s3":
            return call.operation != "GetObject"
        case service:
            return service != "sesv2"


def _may_conflict(call: Call, _frame: Frame) -> bool:
    if call.service == "dynamodb":
        return changes(call) and call.operation != "BatchWriteItem"
    return call.operation == "PutObject"


def _is(*operations: str) -> Callable[[Call, Frame], bool]:
    return lambda call, _: call.operation in operations


def _in(function: str) -> Callable[[Call, Frame], bool]:
    return lambda _, frame: frame.function == function


def _may_repeat(_call: Call, frame: Frame) -> bool:
    # A program that sends its create request twice without a key wants two runs.
    creates = frame.event.get("routeKey") == "POST /runs"
    return not creates or "idempotency-key" in frame.event["headers"]


_SENDS = _is("SendMessage", "SendMessageBatch", "CreateSchedule")

KINDS = {
    "crash_before": Kind(_crash_before, _any, "the process dies before the call"),
    "crash_after": Kind(_crash_after, _any, "the process dies after the call took effect"),
    "error": Kind(lambda m: server_error(m.call), _any, "each try is answered 500"),
    "outage": Kind(_outage, _any, "the service is down from here to the end of the invocation"),
    "throttle": Kind(lambda m: _throttled(m.call), _any, "each try is throttled"),
    "conflict": Kind(_conflict, _may_conflict, "another transaction is under way"),
    "landed": Kind(_landed, is_write, "took effect, the first answer was lost"),
    "lost": Kind(_lost, is_write, "took effect, all answers of this call were lost"),
    "unknown": Kind(_unknown, is_write, "took effect, and then the service is down"),
    "mail_lost": Kind(_lost, _is("SendEmail"), "SES accepted the mail, its answers were lost"),
    "stale": Kind(_stale, lambda call, _: call.reads_an_index, "the index is some changes behind"),
    "partial": Kind(
        _partial,
        _is("BatchWriteItem", "BatchGetItem", "SendMessageBatch"),
        "a batch is left undone in part",
    ),
    "duplicate": Kind(_duplicate, _SENDS, "what is sent is delivered twice"),
    "late": Kind(_late, _SENDS, "what is sent comes three minutes late, behind others"),
    "vanished": Kind(
        _vanished, _is("SendMessage", "SendMessageBatch"), "what was sent is never delivered"
    ),
    "twin": Kind(_twin, _may_repeat, "the same event is handled completely before this call"),
    "rival": Kind(_rival, _any, "the rival of the scenario acts completely before this call"),
    "slow": Kind(_slow, _any, "eight seconds pass, with all that happens in them, before it"),
    "zombie": Kind(_zombie, _in("resume"), "three minutes pass: another worker takes over"),
}
"""All kinds, by the name that commands and table use."""
