"""Makes a form from the node data of a policy (human-input §3), variables resolved once.

Run when the request comes in, with nothing but the request's own variables, so that a form that
could not be answered is refused while its author can mend it; and run again when the model asks.
What only the model's words decide can then spoil a default, never the form.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from sayso.domain.field_bounds import checked
from sayso.domain.field_checks import Refused, check_value
from sayso.domain.fields import INPUT_TYPES, FileLimits, Option, VariableSource, words_of
from sayso.domain.form import Action, ButtonStyle, FormDefinition
from sayso.domain.form_node import (
    DateNode,
    FileNode,
    MultiSelectNode,
    NumberNode,
    SelectNode,
    Source,
    TextNode,
)
from sayso.domain.placeholders import FIELD_PATTERN, find, substitute_variables

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sayso.domain.fields import FormInput
    from sayso.domain.form_node import ActionNode, AnyInput, FormNode

MAX_RENDERED_CHARS: Final = 100_000
"""Content with its variables (DESIGN §3 Limits); what is beyond is cut and warned of."""
_ASK: Final = "ask"


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeForm:
    """A form as its author defined it, ready to be shown."""

    definition: FormDefinition
    warnings: tuple[str, ...]
    """Names of variables that are unknown or could not be used."""


def node_form(node: FormNode, variables: Mapping[str, Any], *, question: str = "") -> NodeForm:
    """Return the form of node data.

    Args:
        node: As it was given.
        variables: Nested JSON; ``run`` and ``ask`` are among them.
        question: What the model asks; the heading where the author wrote no title.

    Raises:
        ValueError: The form could not be answered; says why.
    """
    _check_places(node)
    title, unknown = substitute_variables(node.title, variables)
    content, more = substitute_variables(node.form_content, variables)
    warnings = dict.fromkeys([*unknown, *more])
    if len(content) > MAX_RENDERED_CHARS:
        content = content[:MAX_RENDERED_CHARS]
        warnings["form_content"] = None
    builder = _Inputs(variables, node.default_values, warnings)
    inputs = tuple(builder.input(one) for one in node.inputs)
    definition = FormDefinition(
        title=title,
        question=title or question,
        content=content,
        inputs=inputs,
        actions=tuple(_action(one) for one in node.user_actions),
    )
    return NodeForm(definition=definition, warnings=tuple(warnings))


def _check_places(node: FormNode) -> None:
    """Refuse a field that readers of the content could not find (§18 R), and strange names."""
    placed = set(FIELD_PATTERN.findall(node.form_content))
    names = {one.output_variable_name for one in node.inputs}
    for name in sorted(names - placed):
        message = f"input '{name}' has no placeholder {{{{#$output.{name}#}}}} in form_content"
        raise ValueError(message)
    for action in node.user_actions:
        for name in action.required_inputs or ():
            if name not in names:
                message = f"action '{action.id}' requires the input '{name}', which is none"
                raise ValueError(message)
    for name in node.default_values.keys() - names:
        message = f"default_values names '{name}', which is no input"
        raise ValueError(message)


def _action(node: ActionNode) -> Action:
    requires = node.required_inputs
    return Action(
        id=node.id,
        label=node.title,
        style=ButtonStyle(node.button_style),
        requires=None if requires is None else tuple(requires),
    )


class _Inputs:
    """Makes the fields of one form, noting what could not be used."""

    def __init__(
        self,
        variables: Mapping[str, Any],
        defaults: Mapping[str, Any],
        warnings: dict[str, None],
    ) -> None:
        self._variables = variables
        self._defaults = defaults
        self._warnings = warnings

    def input(self, node: AnyInput) -> FormInput:
        """Return the field of an input node, with its initial value."""
        field = self._field(node)
        if isinstance(node, SelectNode | MultiSelectNode):
            given: Any = node.default or self._defaults.get(field.name)
            return self._with_constant(field, given)
        if isinstance(node, FileNode):
            return field
        given = node.default if node.default is not None else self._defaults.get(field.name)
        if isinstance(given, Source):
            return self._with_source(field, given)
        return self._with_constant(field, given)

    def _with_constant(self, field: FormInput, value: Any) -> FormInput:
        if value in (None, "", []):
            return field
        try:
            accepted = check_value(field, value, {})
        except Refused as refused:
            message = f"the default of input '{field.name}' does not fit: {refused.issue.message}"
            raise ValueError(message) from None
        return _with_default(field, accepted)

    def _with_source(self, field: FormInput, source: Source) -> FormInput:
        """Return the field with the variable's value, else with the constant beside it (§18)."""
        if source.type == "constant":
            return self._with_constant(field, source.value)
        kept = VariableSource(selector=tuple(source.selector), value=source.value)
        field = _changed(self._with_constant(field, source.value), source=kept)
        path = ".".join(source.selector)
        found, value = find(path, self._variables)
        try:
            if found:
                return _with_default(field, check_value(field, value, {}))
        except Refused:
            pass
        self._warnings[path] = None
        return field

    def _field(self, node: AnyInput) -> FormInput:
        members: dict[str, Any] = {
            "name": node.output_variable_name,
            "label": node.label.strip() or words_of(node.output_variable_name),
            "help": node.help,
            "required": bool(node.required),
            "must_be_sent": node.required is None and node.type in _OF_THE_REFERENCE,
        }
        if node.required is None and node.type in _NEVER_EMPTY:
            members["required"] = True
        return checked(INPUT_TYPES[node.type](**members, **self._members(node)))

    def _members(self, node: AnyInput) -> dict[str, Any]:
        """Return what only fields of this kind have, but for their default."""
        match node:
            case TextNode():
                return _text_members(node)
            case NumberNode():
                return {"minimum": node.minimum, "maximum": node.maximum}
            case DateNode():
                return {"earliest": node.earliest, "latest": node.latest}
            case SelectNode():
                return self._options(node)
            case MultiSelectNode():
                bounds = {"min_choices": node.min_choices, "max_choices": node.max_choices}
                return self._options(node) | bounds
            case _:
                return _file_members(node) if isinstance(node, FileNode) else {}

    def _options(self, node: SelectNode | MultiSelectNode) -> dict[str, Any]:
        name, given = node.output_variable_name, node.option_source
        values: Any = given.value
        source = None
        if given.type == "variable":
            path = ".".join(given.selector)
            if given.selector[0] == _ASK:
                message = f"the options of input '{name}' cannot come from what the model asks"
                raise ValueError(message)
            found, value = find(path, self._variables)
            if found:
                values = value
            else:
                self._warnings[path] = None
            source = VariableSource(selector=tuple(given.selector), value=values)
        if not isinstance(values, list) or not all(isinstance(one, str) for one in values):
            message = f"the options of input '{name}' must be a list of texts"
            raise ValueError(message)
        labels = node.option_labels
        options = tuple(Option(value=one, label=labels.get(one) or one) for one in values)
        return {"options": options, "source": source}


_OF_THE_REFERENCE: Final = frozenset({"paragraph", "select", "file", "file-list"})
_NEVER_EMPTY: Final = frozenset({"select", "file"})
"""What the reference's check of the value refuses when it is empty (§9.2, §9.3)."""


def _with_default(field: FormInput, value: Any) -> FormInput:
    default = tuple(value) if isinstance(value, list) else value
    return _changed(field, default=default)


def _changed(field: FormInput, **members: Any) -> FormInput:
    return replace(field, **members)


def _text_members(node: TextNode) -> dict[str, Any]:
    return {
        "placeholder": node.placeholder,
        "min_chars": node.min_length,
        "max_chars": node.max_length,
        "pattern": node.pattern,
    }


def _file_members(node: FileNode) -> dict[str, Any]:
    limits = FileLimits(
        types=tuple(node.allowed_file_types),
        extensions=tuple(node.allowed_file_extensions),
        methods=tuple(node.allowed_file_upload_methods) or FileLimits().methods,
    )
    several = {"max_files": node.number_limits} if node.type == "file-list" else {}
    return {"limits": limits, **several}
