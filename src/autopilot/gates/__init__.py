"""One rule table a gate. Pure: facts, opinions and claims in, verdict out."""
