"""What people see: Markdown, sanitising, pages and mails.

The only package that imports Jinja2, bleach and markdown-it. ``pages`` and what it needs stay free
of the last two, so that the page function starts fast; ``markdown``, ``content`` and ``mailer``
belong to the functions that make forms and send mails.
"""
