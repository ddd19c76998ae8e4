"""``dify.ask_human``: lets the model put a question to people (dify-agent §9).

The tool is a function tool that ``prepare`` turns into an external one: its arguments are checked
while the model can still mend them, and its body never runs. Who is asked, where and until when
is not the model's to say and appears nowhere here.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any, Final

from pydantic import Field, ValidationError, field_validator, model_validator
from pydantic_ai import ModelRetry, Tool
from pydantic_ai.exceptions import ToolFailed
from pydantic_ai.messages import ModelResponse

from sayso.domain.segment import Question
from sayso_agent.layers.ask_arguments import (
    AskHumanAction,
    AskHumanToolArgs,
    FieldType,
    is_identifier,
)
from sayso_agent.layers.ask_own_fields import OwnFieldType, arguments_for
from sayso_agent.layers.base import Layer, LayerModel

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pydantic_ai import DeferredToolRequests, RunContext
    from pydantic_ai.messages import ToolCallPart
    from pydantic_ai.tools import ToolDefinition

    from sayso_agent.deps import RunDeps

_DESCRIPTION: Final = (
    "Ask a person for a decision or a piece of information. Use it only for something that is"
    " required to go on and that cannot be inferred. Be concise and structured, and offer clear"
    " actions."
)
_DEFAULT_ACTION: Final = AskHumanAction(id="submit", label="Submit", style="primary")
_FILE_TYPES: Final = frozenset({"file", "file-list"})
_PAYLOAD_SCHEMA_VERSION: Final = 1
_HARD_CAPS: Final = {
    "max_fields": 16,
    "max_actions": 8,
    "max_markdown_chars": 20_000,
    "max_question_chars": 4_000,
    "max_field_label_chars": 200,
    "max_action_label_chars": 120,
}


class DifyAskHumanLayerConfig(LayerModel):
    """Bounds of what the model may ask (§9.1)."""

    enabled: bool = True
    tool_name: str = "ask_human"
    tool_description: str | None = None
    max_fields: Annotated[int, Field(ge=0)] = 8
    max_actions: Annotated[int, Field(ge=1)] = 4
    allowed_field_types: list[FieldType | OwnFieldType] = Field(default=["paragraph", "select"])
    allow_file_fields: bool = False
    max_markdown_chars: Annotated[int, Field(ge=0)] = 8_000
    max_question_chars: Annotated[int, Field(ge=1)] = 1_000
    max_field_label_chars: Annotated[int, Field(ge=1)] = 120
    max_action_label_chars: Annotated[int, Field(ge=1)] = 80

    @field_validator("tool_name")
    @classmethod
    def _names_a_tool(cls, value: str) -> str:
        if not is_identifier(value):
            message = "tool_name must be a valid tool identifier"
            raise ValueError(message)
        return value

    @field_validator("tool_description")
    @classmethod
    def _blank_means_built_in(cls, value: str | None) -> str | None:
        return (value or "").strip() or None

    @field_validator("allowed_field_types")
    @classmethod
    def _are_different(
        cls, value: list[FieldType | OwnFieldType]
    ) -> list[FieldType | OwnFieldType]:
        if len(set(value)) != len(value):
            message = "allowed_field_types must not contain duplicates"
            raise ValueError(message)
        return value

    @model_validator(mode="after")
    def _under_the_caps(self) -> DifyAskHumanLayerConfig:
        for name, cap in _HARD_CAPS.items():
            if getattr(self, name) > cap:
                message = f"{name} must be <= {cap}"
                raise ValueError(message)
        files = [kind for kind in self.allowed_field_types if kind in _FILE_TYPES]
        if files and not self.allow_file_fields:
            message = (
                "allowed_field_types cannot include file field types when allow_file_fields is"
                f" false: {', '.join(files)}"
            )
            raise ValueError(message)
        return self


class DifyAskHumanLayer(Layer[DifyAskHumanLayerConfig]):
    """Offers the tool and a hint that names its limits."""

    type_id = "dify.ask_human"
    config_type = DifyAskHumanLayerConfig

    def prefix_prompts(self) -> Sequence[str]:
        """Return the hint (§9.5), none when the layer is disabled."""
        return [_hint(self.config)] if self.config.enabled else []

    def tools(self) -> Sequence[Tool[RunDeps]]:
        """Return the tool (§9.2), none when the layer is disabled."""
        if not self.config.enabled:
            return []
        tool: Tool[RunDeps] = Tool.from_schema(
            _never_called,
            name=self.config.tool_name,
            description=self.config.tool_description or _DESCRIPTION,
            json_schema=arguments_for(self.config.allowed_field_types).model_json_schema(),
            sequential=True,
            args_validator=self._validate,
        )
        tool.prepare = _make_external
        tool.strict = False
        # Pure and cheap: it runs in each attempt and needs no record of its own.
        tool.metadata = {"sayso": False}
        return [tool]

    def only_question(self, requests: DeferredToolRequests) -> Question:
        """Return the question that ends a protocol run.

        Raises:
            ValueError: With the contract's texts (§9.6).
        """
        _refuse_approvals(requests)
        if (number := len(requests.calls)) != 1:
            message = (
                "ask_human supports exactly one deferred call per run in this version; got"
                f" {number}."
            )
            raise ValueError(message)
        return self._question(requests.calls[0])

    def questions(self, requests: DeferredToolRequests) -> list[Question]:
        """Return the questions that pause a managed run, checked and normalised.

        Raises:
            ValueError: With the contract's texts (§9.6).
        """
        _refuse_approvals(requests)
        return [self._question(call) for call in requests.calls]

    def _question(self, call: ToolCallPart) -> Question:
        name = self.config.tool_name
        if call.tool_name != name:
            message = f"ask_human deferred tool name must be '{name}', got '{call.tool_name}'."
            raise ValueError(message)
        args = normalise(call.args_as_dict(raise_if_invalid=True), self.config)
        return Question(
            tool_call_id=call.tool_call_id,
            tool_name=name,
            args=args.model_dump(mode="json"),
            metadata={
                "layer_type": self.type_id,
                "tool_name": name,
                "schema_version": _PAYLOAD_SCHEMA_VERSION,
            },
        )

    def _validate(self, ctx: RunContext[RunDeps], **args: Any) -> None:
        """Send the model back to mend its arguments (§9.4)."""
        try:
            normalise(args, self.config)
        except ValidationError as error:
            raise ModelRetry(_readable(error)) from error
        except ValueError as error:
            raise ModelRetry(str(error)) from error
        _check_number(ctx, self.config.tool_name)


def normalise(args: dict[str, Any], config: DifyAskHumanLayerConfig) -> AskHumanToolArgs:
    """Return the arguments, checked in the contract's order, with the default action filled in.

    Raises:
        pydantic.ValidationError: The arguments are not of the form (§9.3).
        ValueError: They are outside the layer's limits (§9.4).
    """
    asked = arguments_for(config.allowed_field_types).model_validate(args)
    if len(asked.fields) > config.max_fields:
        message = f"ask_human fields must contain at most {config.max_fields} item(s)"
        raise ValueError(message)
    actions = asked.actions or [_DEFAULT_ACTION]
    if len(actions) > config.max_actions:
        message = f"ask_human actions must contain at most {config.max_actions} item(s)"
        raise ValueError(message)
    _check_length(asked.question, config.max_question_chars, "question")
    _check_length(asked.markdown or "", config.max_markdown_chars, "markdown")
    for field in asked.fields:
        if field.type not in config.allowed_field_types:
            message = f"ask_human field type '{field.type}' is not allowed by this layer config"
            raise ValueError(message)
        _check_length(field.label, config.max_field_label_chars, f"field label '{field.label}'")
    for action in actions:
        label = action.label
        _check_length(label, config.max_action_label_chars, f"action label '{label}'")
    return asked.model_copy(update={"actions": actions})


def _refuse_approvals(requests: DeferredToolRequests) -> None:
    if requests.approvals:
        message = "ask_human does not support approval requests; use external deferred calls only"
        raise ValueError(message)


def _check_length(text: str, limit: int, what: str) -> None:
    if len(text) > limit:
        message = f"ask_human {what} must be <= {limit} characters"
        raise ValueError(message)


def _check_number(ctx: RunContext[RunDeps], tool_name: str) -> None:
    """Bound the questions of a managed run; a protocol run ends with its one question."""
    limits = ctx.deps.questions
    if limits is None:
        return
    if limits.left <= 0:
        message = "This run may not ask people any more. Go on without an answer."
        raise ToolFailed(message)
    response = next(m for m in reversed(ctx.messages) if isinstance(m, ModelResponse))
    asked = [call.tool_call_id for call in response.tool_calls if call.tool_name == tool_name]
    allowed = min(limits.in_one_turn, limits.left)
    if ctx.tool_call_id in asked[allowed:]:
        message = f"Ask at most {allowed} question(s) at once; ask this one again later."
        raise ModelRetry(message)


def _make_external(_ctx: RunContext[RunDeps], definition: ToolDefinition) -> ToolDefinition:
    return replace(definition, kind="external")


def _never_called(**_args: Any) -> None:
    message = "the ask-human tool is external, its body must not run"
    raise AssertionError(message)


def _readable(error: ValidationError) -> str:
    """Return the reasons, one a line, each with its place."""
    return "\n".join(
        f"{'.'.join(str(part) for part in detail['loc']) or 'arguments'}:"
        f" {detail['msg'].removeprefix('Value error, ')}"
        for detail in error.errors(include_url=False, include_context=False, include_input=False)
    )


def _hint(config: DifyAskHumanLayerConfig) -> str:
    types = ", ".join(config.allowed_field_types) or "none"
    fields = (
        f"Use at most {config.max_fields} field(s)."
        if config.max_fields
        else "Do not add any fields."
    )
    files = "enabled" if config.allow_file_fields else "disabled"
    return "\n".join(
        [
            f"Call the tool '{config.tool_name}' only when you need a person to go on.",
            "Never ask for what can be inferred from the conversation or from other tools.",
            "Limits of a request:",
            f"- Allowed field types: {types}.",
            f"- File upload fields are {files}.",
            f"- {fields}",
            f"- Use at most {config.max_actions} action(s).",
            f"- Keep 'question' under {config.max_question_chars} characters.",
            f"- Keep 'markdown' under {config.max_markdown_chars} characters.",
            f"- Keep each field label under {config.max_field_label_chars} characters.",
            f"- Keep each action label under {config.max_action_label_chars} characters.",
            "- Without actions the request gets one primary action, Submit.",
            "Keep requests concise and well within these limits.",
        ]
    )
