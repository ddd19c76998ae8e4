"""Allow-lists, and the only use of bleach.

The last step of all rendering: nothing is added behind it. Tags outside a list are taken away, what
they enclose stays. Every attribute value must match its pattern as a whole. The lists also feed the
test oracle (another sanitiser with equal lists must find nothing to remove).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import bleach

if TYPE_CHECKING:
    from collections.abc import Mapping

SCHEMES: Final = frozenset({"http", "https", "mailto"})
LINK_REL: Final = "noopener noreferrer nofollow"

_ANYTHING: Final = re.compile(r".*", re.DOTALL)
_LINK: Final = re.compile(r"(?:https?://|mailto:)\S+", re.IGNORECASE)


def _exactly(value: str) -> re.Pattern[str]:
    return re.compile(re.escape(value))


# fmt: off
_MAIL_TAGS: Final = frozenset({
    "br", "code", "em", "li", "ol", "p", "pre", "strong", "table", "tbody", "td", "th", "thead",
    "tr", "ul",
})
# fmt: on


@dataclass(frozen=True, slots=True)
class AllowList:
    """What may be left of HTML."""

    tags: frozenset[str]
    attributes: Mapping[str, Mapping[str, re.Pattern[str]]]
    """Tag → attribute → pattern of the whole value."""

    def allows(self, tag: str, name: str, value: str) -> bool:
        """Tell whether an attribute may stay."""
        pattern = self.attributes.get(tag, {}).get(name)
        return pattern is not None and pattern.fullmatch(value) is not None


PAGE: Final = AllowList(
    tags=_MAIL_TAGS | {"a", "blockquote", "div", "h3", "h4", "hr", "span"},
    attributes={
        "a": {"href": _LINK, "title": _ANYTHING, "rel": _exactly(LINK_REL)},
        "div": {
            "class": _exactly("scroll"),
            "role": _exactly("region"),
            "tabindex": _exactly("0"),
            "aria-label": _ANYTHING,
        },
        "ol": {"start": re.compile(r"\d{1,9}")},
        "span": {"class": _exactly("host")},
        "td": {"class": _exactly("num")},
        "th": {"class": _exactly("num"), "scope": _exactly("col")},
    },
)
"""Blocks of the page. ``div`` and ``span`` are ours: Markdown cannot write them."""

_ALIGN: Final = re.compile(r"left|center|right")

MAIL: Final = AllowList(
    tags=_MAIL_TAGS, attributes={"td": {"align": _ALIGN}, "th": {"align": _ALIGN}}
)
"""What a model wrote, in a mail: the contract's list (human-input §4.3) without links."""

AUTHOR: Final = AllowList(
    tags=_MAIL_TAGS | {"a"},
    attributes={**MAIL.attributes, "a": {"href": _LINK, "title": _ANYTHING}},
)
"""The mail body that the author of a policy wrote: the contract's list (human-input §4.3)."""


def sanitise(html: str, allowed: AllowList) -> str:
    """Return HTML that holds nothing but what is allowed."""
    return bleach.clean(
        html,
        tags=allowed.tags,
        attributes=allowed.allows,
        protocols=SCHEMES,
        strip=True,
        strip_comments=True,
    )
