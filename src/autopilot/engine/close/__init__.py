"""Closes an attempt: outcome, diagnostics, receipt, trace."""
