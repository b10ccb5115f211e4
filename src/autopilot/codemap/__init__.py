"""The repository map: outlines of source files by tree-sitter, kept by blob, put together for a commit."""
