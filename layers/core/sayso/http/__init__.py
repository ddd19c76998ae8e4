"""What comes in and goes out over HTTP: wire models, error bodies, projections, pages.

Reaches stores through use cases only. Modules of the page function (``page`` and what it imports)
stay free of pydantic and of Powertools' event handler, which would double its cold start.
"""
