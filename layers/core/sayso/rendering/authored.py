"""Mail subject and body that the author of a policy wrote (human-input §4.3 with our corrections).

No template engine sees the text. Placeholders become marks before Markdown is parsed, and marks
become values in the parsed tokens: a value can be neither Markdown nor HTML nor a placeholder, and
never decides where a link leads. The allow-list comes last.
"""

from __future__ import annotations

import functools
import html
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final
from urllib.parse import quote

from markdown_it.token import Token

from sayso.domain.placeholders import VARIABLE_PATTERN, look_up
from sayso.rendering import links
from sayso.rendering.markdown import AUTHOR, parser, render_tokens, shorten
from sayso.rendering.plain import one_line, strip_invisible, without_links, without_tags
from sayso.rendering.plaintext import tokens_as_text

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from sayso.rendering.safe import RenderedHtml

BODY_CHARS: Final = 20_000
SUBJECT_CHARS: Final = 150

_NAMES: Final = (
    "form_id",
    "node_title",
    "workflow_run_id",
    "form_token",
    "form_link",
    "form_content",
    "recipient_email",
)
_PLACEHOLDER: Final = re.compile(
    r"(?P<url>\{\{#url#\}\})"
    rf"|{VARIABLE_PATTERN.pattern}"
    rf"|\{{\{{\s*(?P<name>{'|'.join(_NAMES)})\s*\}}\}}"
)
_CODE: Final = frozenset({"code_inline", "fence", "code_block"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Substitutions:
    """What may stand in for placeholders. All of it is inert."""

    link: str
    """The recipient's form link, for ``{{#url#}}`` and ``{{ form_link }}``."""
    content: RenderedHtml
    """The form's content under the mail's allow-list, for ``{{ form_content }}``."""
    content_text: str
    names: Mapping[str, str]
    """``form_id``, ``node_title``, ``workflow_run_id``, ``recipient_email``. A ``form_token`` is
    always empty: the credential is in the link and nowhere else."""
    variables: Mapping[str, object]


@dataclass(frozen=True, slots=True, kw_only=True)
class AuthoredBody:
    """A body in both forms, without its frame."""

    html: RenderedHtml
    text: str
    html_has_link: bool
    text_has_link: bool
    """On a line of its own."""


def authored_subject(subject: str, given: Substitutions) -> str:
    """Return the author's subject: one line, without tags, never longer than 150 characters.

    Variables stand in it too, unlike in the reference. The link and the content do not: a subject
    is shown on locked screens and kept in logs of mail servers.
    """

    def replace(match: re.Match[str]) -> str:
        path, name = match[2], match["name"]
        if path is not None:
            return look_up(path, given.variables)[1]
        return given.names.get(name, "") if name and name != "form_token" else ""

    filled = _PLACEHOLDER.sub(replace, subject)
    return one_line(without_tags(filled), limit=SUBJECT_CHARS)


def authored_body(body: str, given: Substitutions) -> AuthoredBody:
    """Return the author's Markdown body as HTML and as text."""
    source, _removed = strip_invisible(shorten(body, BODY_CHARS))
    marked = _Marked(source, given)
    rendered = render_tokens(marked.tokens(_HtmlPieces(given)), AUTHOR)
    tokens = marked.tokens(_TextPieces(given))
    for token in tokens:
        if token.children is not None:
            style = functools.partial(_text_link, given.link)
            token.children = links.restyle_links(token.children, style)
    text = tokens_as_text(tokens)
    return AuthoredBody(
        html=rendered,
        text=text,
        html_has_link=f'href="{html.escape(given.link)}"' in rendered.html,
        text_has_link=given.link in text.splitlines(),
    )


def _text_link(own: str, target: links.Target, inside: list[Token]) -> list[Token]:
    """Return a link as text. Our own link stands on its own line below, not in the sentence."""
    if target.href == own:
        return inside
    return [*inside, links.text_token(f" ({target.href})")]


class _HtmlPieces:
    """What stands in for marks in the HTML part."""

    def __init__(self, given: Substitutions) -> None:
        self._given = given

    def link(self, before: str, after: str) -> list[Token]:
        """Return the bare link as an anchor, apart from what stands beside it."""
        target = links.Target(self._given.link, "", "")
        anchor = links.live_link(target, [links.text_token(self._given.link)])
        return [*_space(before), *anchor, *_space(after)]

    def content(self) -> list[Token]:
        """Return the form's content as a block; it was sanitised and is sanitised again."""
        return [Token("html_block", "", 0, content=self._given.content.html, block=True)]


class _TextPieces:
    """What stands in for marks in the text part."""

    def __init__(self, given: Substitutions) -> None:
        self._given = given

    def link(self, before: str, after: str) -> list[Token]:
        """Return the bare link on a line of its own."""
        start = [Token("hardbreak", "br", 0)] if before else []
        end = [Token("hardbreak", "br", 0)] if after else []
        return [*start, links.text_token(self._given.link), *end]

    def content(self) -> list[Token]:
        """Return the form's content as a block."""
        return [Token("plain", "", 0, content=self._given.content_text, block=True)]


def _space(neighbour: str) -> list[Token]:
    touching = neighbour.isalnum() or (neighbour != "" and neighbour in "/-_.:=&?#%@+~")
    return [links.text_token(" ")] if touching else []


class _Marked:
    """A source whose placeholders are marks: words that occur nowhere else in it."""

    def __init__(self, source: str, given: Substitutions) -> None:
        self._given = given
        self._values: list[str] = []
        self._link_mark = self._content_mark = -1
        self._stem = "mark"
        while self._stem in source:
            self._stem += "q"
        self._mark = re.compile(rf"{self._stem}(\d+)z")
        self._source = _PLACEHOLDER.sub(self._take, source)

    def _take(self, match: re.Match[str]) -> str:
        """Note the value of a placeholder and return its mark."""
        path, name = match[2], match["name"]
        if match["url"] or name == "form_link":
            self._link_mark = number = self._note(self._given.link, self._link_mark)
        elif name == "form_content":
            inline = one_line(self._given.content_text)
            self._content_mark = number = self._note(inline, self._content_mark)
        elif path is not None:
            number = self._note(without_links(look_up(path, self._given.variables)[1]))
        else:
            value = "" if name == "form_token" else self._given.names.get(name or "", "")
            number = self._note(without_links(value))
        return f"{self._stem}{number}z"

    def _note(self, value: str, number: int = -1) -> int:
        if number >= 0:
            return number
        self._values.append(strip_invisible(value)[0])
        return len(self._values) - 1

    def tokens(self, pieces: _HtmlPieces | _TextPieces) -> list[Token]:
        """Parse, and return the tokens with values in place of marks."""
        shown: list[Token] = []
        for token in parser().parse(self._source):
            if token.type in _CODE:
                token.content = self._filled(token.content)
            if token.children is not None:
                token.children = self._children(token.children, pieces)
            shown.append(token)
            if self._is_content(shown[-3:]):
                shown[-3:] = pieces.content()
        return shown

    def _is_content(self, block: Sequence[Token]) -> bool:
        """Tell whether tokens are a paragraph that is the content and nothing else."""
        return (
            [token.type for token in block] == ["paragraph_open", "inline", "paragraph_close"]
            and self._content_mark >= 0
            and block[1].content.strip() == f"{self._stem}{self._content_mark}z"
        )

    def _children(
        self, children: Sequence[Token], pieces: _HtmlPieces | _TextPieces
    ) -> list[Token]:
        shown: list[Token] = []
        in_link = False
        for token in children:
            if token.type in {"link_open", "image"}:
                self._fill_target(token)
            in_link = token.type == "link_open" or (in_link and token.type != "link_close")
            if token.type == "text" and not in_link:
                shown += self._text(token.content, pieces)
            else:
                token.content = self._filled(token.content)
                shown.append(token)
        return shown

    def _text(self, text: str, pieces: _HtmlPieces | _TextPieces) -> list[Token]:
        shown: list[Token] = []
        end = 0
        for match in self._mark.finditer(text):
            shown.append(links.text_token(text[end : match.start()]))
            number = int(match[1])
            if number == self._link_mark:
                before, after = text[: match.start()][-1:], text[match.end() :][:1]
                shown += pieces.link(before, after)
            else:
                shown.append(links.text_token(self._values[number]))
            end = match.end()
        return [*shown, links.text_token(text[end:])]

    def _fill_target(self, token: Token) -> None:
        """Put values into the address of a link.

        Our link takes the whole address, whatever is glued to it. Other values are escaped, and a
        link whose host they would choose is no link.
        """
        name = "src" if token.type == "image" else "href"
        address = str(token.attrGet(name) or "")
        numbers = [int(number) for number in self._mark.findall(address)]
        if self._link_mark in numbers:
            token.attrSet(name, self._given.link)
        elif numbers:
            target = links.target_of(address)
            safe = target is not None and not self._mark.search(target.host)
            token.attrSet(name, self._filled(address, _quoted) if safe else "")
        if title := token.attrGet("title"):
            token.attrSet("title", self._filled(str(title)))

    def _filled(self, text: str, change: Callable[[str], str] = str) -> str:
        return self._mark.sub(lambda match: change(self._values[int(match[1])]), text)


def _quoted(value: str) -> str:
    """Escape a value for any place in an address."""
    return quote(value, safe="")
