"""Each function may do what it does and no more."""

from __future__ import annotations

import pytest

from sayso_local.cfn import JsonObject, resources_of_type
from support.template import (
    FUNCTIONS,
    TEMPLATE,
    environment,
    folder,
    items,
    names,
    section,
    statements,
)

BY_FOLDER = {folder(function): function for function in FUNCTIONS.values()}
ALL_STATEMENTS = [
    pytest.param(statement, id=f"{name}-{number}")
    for name, function in BY_FOLDER.items()
    for number, statement in enumerate(statements(function))
]


def rights(name: str, action: str) -> str:
    """The resources, as text, that a function may use an action on."""
    return " ".join(
        names(statement["Resource"])
        for statement in statements(BY_FOLDER[name])
        if action in items(statement["Action"])
    )


@pytest.mark.parametrize("statement", ALL_STATEMENTS)
def test_actions_and_resources_are_named(statement: JsonObject) -> None:
    assert statement["Effect"] == "Allow"
    assert not [action for action in items(statement["Action"]) if "*" in str(action)]
    assert "*" not in [str(resource) for resource in items(statement["Resource"])]


@pytest.mark.parametrize("name", sorted(BY_FOLDER))
def test_nobody_scans(name: str) -> None:
    assert rights(name, "dynamodb:Scan") == ""


def test_agent_code_cannot_read_the_key_of_links() -> None:
    assert "TokenKeySecret" not in names(BY_FOLDER["resume"])


@pytest.mark.parametrize("name", ["read_run", "submit_form", "console", "deliver"])
def test_whoever_makes_or_checks_links_reads_their_key(name: str) -> None:
    assert "TokenKeySecret" in rights(name, "secretsmanager:GetSecretValue")


@pytest.mark.parametrize("name", sorted(BY_FOLDER))
def test_a_queue_that_is_named_is_one_that_may_be_written(name: str) -> None:
    sendable = rights(name, "sqs:SendMessage")

    for variable, queue in [
        ("STARTS_QUEUE_URL", "StartsQueue"),
        ("WAKES_QUEUE_URL", "WakesQueue"),
        ("DELIVERIES_QUEUE_URL", "DeliveriesQueue"),
    ]:
        assert (variable in environment(BY_FOLDER[name])) == (queue in sendable)


@pytest.mark.parametrize("name", sorted(BY_FOLDER))
def test_whoever_may_reach_objects_knows_the_bucket(name: str) -> None:
    actions = ("s3:GetObject", "s3:PutObject", "s3:DeleteObject")

    may_reach = any(rights(name, action) for action in actions)

    assert ("BUCKET_NAME" in environment(BY_FOLDER[name])) == may_reach


def test_reading_a_run_changes_nothing() -> None:
    written = {"PutItem", "UpdateItem", "DeleteItem", "BatchWriteItem"}

    for action in written:
        assert rights("read_run", f"dynamodb:{action}") == ""
    assert rights("read_run", "s3:PutObject") == ""


@pytest.mark.parametrize(
    ("action", "allowed"),
    [
        ("scheduler:CreateSchedule", {"resume", "timeout_sweep"}),
        ("iam:PassRole", {"resume", "timeout_sweep"}),
        ("ses:SendEmail", {"deliver"}),
        ("s3:PutObject", {"create_run", "resume", "submit_form"}),
        ("s3:DeleteObject", {"timeout_sweep"}),
        ("kms:Encrypt", {"create_run"}),
        ("kms:Decrypt", {"resume"}),
    ],
)
def test_few_may_do_what_reaches_far(action: str, allowed: set[str]) -> None:
    assert {name for name in BY_FOLDER if rights(name, action)} == allowed


@pytest.mark.parametrize("name", ["create_run", "read_run", "resume", "timeout_sweep"])
def test_objects_are_reached_below_runs_only(name: str) -> None:
    for action in ("s3:GetObject", "s3:PutObject", "s3:DeleteObject"):
        reached = rights(name, action)
        for folder_ in ("runs", "uploads") if name == "timeout_sweep" else ("runs",):
            reached = reached.replace(f'{{"Fn::Sub": "${{Bucket.Arn}}/{folder_}/*"}}', "")
        assert reached.strip(" [],") == ""


def test_the_page_stores_files_of_people_and_reads_none() -> None:
    assert rights("submit_form", "s3:PutObject") == '{"Fn::Sub": "${Bucket.Arn}/uploads/*"}'
    assert rights("submit_form", "s3:GetObject") == ""


def test_schedules_may_call_the_sweep_and_nothing_else() -> None:
    (policy,) = resources_of_type(TEMPLATE, "AWS::IAM::Policy").values()

    (statement,) = items(section(policy["PolicyDocument"])["Statement"])
    assert section(statement) == {
        "Effect": "Allow",
        "Action": "lambda:InvokeFunction",
        "Resource": {"Fn::GetAtt": ["TimeoutSweepFunction", "Arn"]},
    }
    assert policy["Roles"] == [{"Ref": "ScheduleRole"}]


def test_data_is_encrypted_versioned_and_kept() -> None:
    table = section(TEMPLATE, "Resources", "Table")
    bucket = section(TEMPLATE, "Resources", "Bucket")

    assert {table["DeletionPolicy"], bucket["DeletionPolicy"]} == {"Retain"}
    assert section(table, "Properties", "SSESpecification") == {"SSEEnabled": True}
    assert section(table, "Properties", "TimeToLiveSpecification")["AttributeName"] == "ttl"
    assert section(table, "Properties", "PointInTimeRecoverySpecification") == {
        "PointInTimeRecoveryEnabled": True
    }
    assert section(bucket, "Properties", "VersioningConfiguration") == {"Status": "Enabled"}
    for queue in resources_of_type(TEMPLATE, "AWS::SQS::Queue").values():
        assert queue["SqsManagedSseEnabled"] is True
