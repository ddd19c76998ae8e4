"""What Sayso does, one module a use case. No HTTP words, no AWS words."""
