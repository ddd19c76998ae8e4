"""Builds each function's object graph: the one place that knows everything.

A function calls its builder once, when its module is loaded; Lambda gives that phase a full CPU.
Imports stand inside the builders, so that each function loads only what it uses. Never imports the
agent layer: the resume function hands its runner in.
"""

# ruff: noqa: PLC0415 - each function loads only what it uses

from __future__ import annotations

import os
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from sayso.ports import (
        AgentRunner,
        ContentRenderer,
        Directory,
        Links,
        Mailer,
        MailRenderer,
        RateLimiter,
        RemoteFiles,
        StoredCredential,
        Timers,
    )
    from sayso.settings import Settings
    from sayso.usecases.context import Context

    Handler = Callable[[Mapping[str, Any], Any], Any]


class Wiring(Protocol):
    """The ports of one process."""

    @property
    def settings(self) -> Settings:
        """What the environment says."""

    @property
    def context(self) -> Context:
        """What every use case is given."""

    @property
    def directory(self) -> Directory:
        """Knows the API keys."""

    @property
    def links(self) -> Links:
        """Makes and checks form links."""

    @property
    def limiter(self) -> RateLimiter:
        """Counts requests to form pages."""

    @property
    def remote_files(self) -> RemoteFiles:
        """Fetches files of the web."""

    @property
    def mailer(self) -> Mailer:
        """Sends mails."""

    @property
    def mail_renderer(self) -> MailRenderer:
        """Makes approval mails."""

    @property
    def content_renderer(self) -> ContentRenderer:
        """Renders the Markdown of forms."""

    def sleep(self, seconds: float) -> None:
        """Let time pass while a reader of events is held."""

    def timers(self, sweep_arn: str) -> Timers:
        """Return one-time schedules that call this function."""

    def stored_credential(self, provider: str) -> StoredCredential | None:
        """Return the stack's credential of a model provider, if there is one."""


_wiring: Wiring | None = None


def use(wiring: Wiring | None) -> None:
    """Let builders that are called from now on use these ports; None: those of AWS again."""
    global _wiring  # noqa: PLW0603 - one process has one wiring
    _wiring = wiring


def wiring() -> Wiring:
    """Return the ports of this process: those of AWS unless others are in use."""
    if _wiring is None:
        from sayso.aws_wiring import AwsWiring
        from sayso.settings import Settings

        use(AwsWiring(Settings.from_environment(os.environ)))
    assert _wiring is not None
    return _wiring


def create_run() -> Handler:
    """Return the handler that takes new runs and cancellations."""
    from sayso.http.create_run import CreatePorts, create_run_api
    from sayso.http.guard import guarded
    from sayso.usecases.create_run import MailDefaults

    ports = wiring()
    settings = ports.settings
    defaults = MailDefaults(
        can_mail=bool(settings.sender_address),
        approvers=settings.default_approvers,
        run_timeout=settings.run_timeout,
    )
    api = create_run_api(
        CreatePorts(
            context=ports.context,
            directory=ports.directory,
            defaults=defaults,
            public_base_url=settings.public_base_url,
        )
    )
    return guarded(api.resolve)


def read_run() -> Handler:
    """Return the handler that shows runs and their events."""
    from sayso.http.guard import guarded
    from sayso.http.read_run import ReadPorts, read_run_api

    ports = wiring()
    api = read_run_api(
        ReadPorts(
            context=ports.context,
            directory=ports.directory,
            links=ports.links,
            sleep=ports.sleep,
        )
    )
    return guarded(api.resolve)


def submit_form() -> Handler:
    """Return the handler of the approver's page and of its JSON twin."""
    from sayso.http.guard import guarded
    from sayso.http.page import PagePorts, serve_page
    from sayso.http.public_form import PREFIX, serve_public_form

    ports = wiring()
    page = PagePorts(
        context=ports.context,
        links=ports.links,
        limiter=ports.limiter,
        remote_files=ports.remote_files,
    )

    def serve(event: Mapping[str, Any], _: Any) -> dict[str, Any]:
        is_json = str(event.get("rawPath", "")).startswith(PREFIX)
        return serve_public_form(event, page) if is_json else serve_page(event, page)

    return guarded(serve)


def console() -> Handler:
    """Return the handler of the JSON form routes and of ``$default``."""
    from sayso.http.form_api import form_api
    from sayso.http.guard import guarded
    from sayso.http.manage_forms import FormPorts

    ports = wiring()
    api = form_api(
        FormPorts(
            context=ports.context,
            directory=ports.directory,
            links=ports.links,
            renderer=lambda: ports.content_renderer,
            can_mail=bool(ports.settings.sender_address),
            public_base_url=ports.settings.public_base_url,
        )
    )
    return guarded(api.resolve)


def resume(agent: AgentRunner) -> Handler:
    """Return the handler that runs segments.

    Args:
        agent: The agent layer's runner.
    """
    from sayso.messages.failsafe import fail_if_any, failsafe, process_batch
    from sayso.messages.segments import work
    from sayso.usecases.pause_run import Asking
    from sayso.usecases.run_segment import Workshop

    ports = wiring()
    asking = Asking(
        context=ports.context,
        timers=ports.timers(ports.settings.sweep_function_arn),
        renderer=ports.content_renderer,
        default_approvers=ports.settings.default_approvers,
    )
    shop = Workshop(
        context=ports.context,
        agent=agent,
        asking=asking,
        lease=ports.settings.lease,
        max_active=ports.settings.max_active,
        remaining_seconds=lambda: float("inf"),
    )

    def serve(event: Mapping[str, Any], context: Any) -> dict[str, Any]:
        now = replace(shop, remaining_seconds=_remaining_seconds(context))
        answer = process_batch(event, context, lambda body: work(body, now))
        fail_if_any(answer)
        return answer

    return failsafe(serve)


def deliver() -> Handler:
    """Return the handler that sends mails and hears what became of them."""
    from sayso.messages.deliveries import deliver as deliver_message
    from sayso.messages.failsafe import failsafe, process_batch
    from sayso.usecases.deliver import Post

    ports = wiring()
    post = Post(
        context=ports.context,
        links=ports.links,
        mailer=ports.mailer,
        renderer=ports.mail_renderer,
    )

    def serve(event: Mapping[str, Any], context: Any) -> dict[str, Any]:
        return process_batch(event, context, lambda body: deliver_message(body, post))

    return failsafe(serve)


def timeout_sweep() -> Handler:
    """Return the handler of the minute's tick and of one-time schedules."""
    from sayso.messages.failsafe import failsafe
    from sayso.messages.ticks import tick
    from sayso.usecases.tell_people import Telling

    ports = wiring()

    def serve(event: Mapping[str, Any], context: Any) -> None:
        # The sweep cannot be told its own name by the template: that would be a cycle.
        timers = ports.timers(context.invoked_function_arn)
        tick(event, Telling(context=ports.context, timers=timers), _remaining_seconds(context))

    return failsafe(serve)


def _remaining_seconds(context: Any) -> Callable[[], float]:
    def remaining() -> float:
        milliseconds: int = context.get_remaining_time_in_millis()
        return milliseconds / 1000

    return remaining
