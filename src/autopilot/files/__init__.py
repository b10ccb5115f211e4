"""Opens and replaces files so that no link, pipe or half-written state can do harm."""
