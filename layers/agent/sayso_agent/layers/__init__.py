"""Layer types, one module each; ``registry`` lists them."""
