"""A tenant neither sees nor changes anything of another one (I12)."""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING, Any

import pytest

from e2e.scenes import asking, comment
from e2e.stage import token_of
from sayso.aws.directory import key_digest
from sayso.domain.transitions import FormStatus, RunStatus

if TYPE_CHECKING:
    from e2e.stage import Stage
    from sayso.domain.ids import RunId

pytestmark = pytest.mark.stack

NOBODYS_RUN = "00000000-0000-4000-8000-000000000000"


def seed_key(stage: Stage, **members: Any) -> str:
    """Store a key of another tenant, or as told; return it."""
    key = secrets.token_urlsafe(24)
    record = {"id": key[:8], "tenant": "other", "app": "default", "role": "admin"}
    item = {"pk": f"KEY#{key_digest(key)}", "sk": "KEY", "disabled": False, **record, **members}
    stage.records.stores.table.put_many([item])
    return key


@pytest.fixture(scope="module")
def theirs(stage: Stage) -> str:
    """The key of a second tenant."""
    return seed_key(stage)


def answer(said: str) -> dict[str, Any]:
    return {
        "inputs": {"reason": "lost", "comment": said},
        "action": "approve",
        "user": "somebody",
    }


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/runs/{}"),
        ("GET", "/runs/{}/events"),
        ("GET", "/runs/{}/events/sse"),
        ("POST", "/runs/{}/cancel"),
    ],
)
def test_the_run_of_another_tenant_is_as_unknown_as_none(
    stage: Stage, theirs: str, waiting: RunId, method: str, path: str
) -> None:
    before = stage.records.about(waiting)
    body: dict[str, str] | None = {} if method == "POST" else None

    reply = stage.call(method, path.format(waiting), body, key=theirs)

    nobodys = stage.call(method, path.format(NOBODYS_RUN), body, key=theirs)
    assert (reply.status, reply.json) == (404, {"detail": "run not found"})
    assert (nobodys.status, nobodys.body) == (reply.status, reply.body)
    assert stage.records.about(waiting) == before


@pytest.mark.parametrize("members", [{}, {"tenant": "default", "app": "other"}], ids=str)
def test_the_form_of_another_tenant_or_app_is_as_unknown_as_none(
    stage: Stage, waiting: RunId, link: str, members: dict[str, str]
) -> None:
    key = seed_key(stage, **members)
    path = f"/v1/form/human_input/{token_of(link)}"
    before = stage.records.about(waiting)

    replies = [
        stage.call("GET", path, key=key),
        stage.call("POST", path, answer("not mine"), key=key),
        stage.call("GET", path[:-1], key=key),
    ]

    assert [reply.status for reply in replies] == [404, 404, 404]
    assert len({reply.body for reply in replies}) == 1
    assert stage.records.about(waiting) == before
    (form,) = stage.records.forms(waiting)
    assert form.status is FormStatus.WAITING


def test_a_second_tenant_has_runs_of_its_own(stage: Stage, theirs: str) -> None:
    said = comment()
    run_id = stage.create(asking(), key=theirs)
    stage.records.wait_until(run_id, RunStatus.PAUSED)
    (form,) = stage.records.forms(run_id)
    path = f"/v1/form/human_input/{token_of(stage.link_to(form))}"

    seen = stage.call("GET", f"/runs/{run_id}")
    answered = stage.call("POST", path, answer(said), key=theirs)

    stage.records.wait_until(run_id, RunStatus.SUCCEEDED)
    assert seen.status == 404, "nor does the first tenant see it"
    assert (answered.status, answered.json) == (200, {})
    assert stage.call("GET", f"/runs/{run_id}", key=theirs).json["status"] == "succeeded"


@pytest.mark.parametrize(
    ("members", "status"),
    [({"disabled": True}, 401), ({"role": "openapi"}, 403)],
    ids=["disabled", "of another role"],
)
def test_a_key_that_may_not_is_refused_before_anything_is_looked_at(
    stage: Stage, members: dict[str, Any], status: int
) -> None:
    key = seed_key(stage, tenant="default", **members)
    before = stage.records.run_ids()

    reply = stage.call("POST", "/runs", b"not even JSON", key=key)

    assert reply.status == status
    assert ("www-authenticate" in reply.headers) == (status == 401)
    assert stage.records.run_ids() == before
