"""
Does what is asked, as asked.

projects: till, shelf, ledger, slug, roman, tides, almanac
"""
