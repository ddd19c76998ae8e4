"""Model providers, one module each; ``sayso_agent.models`` lists them."""
