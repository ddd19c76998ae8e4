"""The agent layer: composition of layers, the model loop, durable segments.

The only package that imports pydantic_ai, and only the function that runs segments imports it.
This module imports nothing: start from ``sayso_agent.runner.build_runner``.
"""
