"""
Does two phases one after the other, three tasks in all.

projects: ledger
phases: all
"""
