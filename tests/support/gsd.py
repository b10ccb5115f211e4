"""Plan files in the form get-shit-done writes them, for sample projects of our own."""

from collections.abc import Sequence

ACTION = (
    "Create the file with the single word that the check looks for, then add a line with the number of the letter, "
    "and leave every other file of the project exactly as it is now."
)

Tasks = Sequence[tuple[str, str]]
"""Each task is a file and the word it must contain."""


def gsd_plan(phase: str, plan: str, tasks: Tasks, wave: int = 1, needs: Sequence[str] = ()) -> str:
    """A plan file with front matter; `needs` are plans, as `01-01`."""
    named = "\n".join(f"  - {file}" for file, _ in tasks)
    truths = "\n".join(f'    - "{file} says {word}"' for file, word in tasks)
    head = (
        f"---\nphase: {phase}-letter\nplan: {plan}\ntype: execute\nwave: {wave}\n"
        f"depends_on: [{', '.join(needs)}]\nfiles_modified:\n{named}\nautonomous: true\n"
        f"must_haves:\n  truths:\n{truths}\n---\n\n<objective>Write the letter.</objective>\n\n<tasks>\n"
    )
    body = "\n".join(
        f'<task type="auto">\n  <name>Task {number}: Write {file}</name>\n  <files>{file}</files>\n'
        f"  <action>{ACTION}</action>\n  <verify><automated>{check(file, word)}</automated></verify>\n"
        f"  <done>{file} says {word}</done>\n</task>\n"
        for number, (file, word) in enumerate(tasks, start=1)
    )
    return f"{head}{body}\n</tasks>\n"


def check(file: str, word: str) -> str:
    """A command that runs something and not only looks at text."""
    return f"python3 -c \"assert '{word}' in open('{file}').read()\""
