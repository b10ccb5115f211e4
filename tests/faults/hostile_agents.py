"""
Agents that misbehave, each as a small script, and the state a run with it ends in.

The shell is in the workspace and knows `here` (the agent's own folder), `T` (a word to be recognised by later), `ROOT`
(the user's project) and `PLACE` (what all paths of this project begin with). What a script does not settle by leaving
is followed by the honest answer for the call: then the mischief alone must not matter.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Hostile:
    """
    `exit` is the exit code the run ends with, `bare` the one without a sandbox where that is another. `walled`:
    sandboxed only, because nothing else could hold it; `open`: without a sandbox only. `seconds` is the agent's time
    limit. Only `short` ones are in the short form.
    """

    name: str
    script: str
    exit: int = 0
    roles: tuple[str, ...] = ("execute", "debug")
    seconds: int = 60
    bare: int | None = None
    walled: bool = False
    open: bool = False
    short: bool = False

    def ends_with(self, sandbox: str) -> int:
        return self.bare if sandbox == "none" and self.bare is not None else self.exit


def python(code: str) -> str:
    return f"python3 -S -E - <<'CODE'\nimport json, os, signal, socket, sys, time\nT = os.environ['T']\n{code}\nCODE\n"


LIMIT_S = 12
NEVER = f"sleep {LIMIT_S}0.$T"
FAILED, STOPPED, LIMITED, CAPPED, STORAGE, KILLED = 10, 21, 22, 20, 2, -9
GIT = "git -c user.name=x -c user.email=x@x"
HOOKS = """
for hook in pre-commit post-commit post-checkout post-index-change reference-transaction; do
  printf '#!/bin/sh\\ntouch "%s/sprung"\\n' "$here" > .git/hooks/$hook; chmod +x .git/hooks/$hook
done
printf '[filter "x"]\\nclean = touch %s/sprung; cat\\nsmudge = touch %s/sprung; cat\\n[core]\\nfsmonitor = touch %s/sprung\\n' "$here" "$here" "$here" >> .git/config
mkdir -p .git/info; echo '* filter=x' > .git/info/attributes
"""
HUNT = """
me, place = os.getpid(), os.environ['PLACE'].encode()
for pid in (p for p in os.listdir('/proc') if p.isdigit() and int(p) != me):
    try:
        seen = open(f'/proc/{pid}/cmdline', 'rb').read() + open(f'/proc/{pid}/environ', 'rb').read()
        if place in seen:
            os.kill(int(pid), signal.SIGKILL)
    except OSError:
        pass
"""
ENVELOPE = 'printf \'{"autopilot": 1, "result": {"tasks_completed": "1/1"}, "usage": %s}\\n\'; echo "done 1" > letter1.txt; exit 0'

HOSTILE = (
    Hostile("hangs", NEVER, FAILED, seconds=LIMIT_S, short=True),
    Hostile("ignores every signal it can", python("for n in range(1, 30):\n    try: signal.signal(n, signal.SIG_IGN)\n    except (OSError, ValueError): pass\ntime.sleep(600)"), FAILED, seconds=LIMIT_S),
    Hostile("stops itself", "kill -STOP $$; sleep 600", FAILED, seconds=LIMIT_S),
    Hostile("endless stream of small events", "while :; do echo '{\"type\": \"thinking\"}'; sleep 0.01; done", FAILED, seconds=LIMIT_S),
    Hostile("writes its answer and keeps running", f"echo 'done 1' > letter1.txt; echo '{{\"tasks_completed\": \"1/1\"}}'; {NEVER}", FAILED, seconds=LIMIT_S),
    Hostile("closes its output and stays", f"exec >&- 2>&-; {NEVER}", FAILED, seconds=LIMIT_S),
    Hostile("a judge that hangs", NEVER, FAILED, roles=("judge",), seconds=LIMIT_S),
    Hostile("leaves daemons", "(setsid sleep 600.$T &) ; (nohup sleep 601.$T >/dev/null 2>&1 &)", short=True),
    Hostile("leaves daemons without any mark", "env -i setsid sh -c 'sleep 602.0 & exec sleep 603.'$T >/dev/null 2>&1 &\nsleep 0.2"),
    Hostile("forks twice and goes on writing", "(setsid sh -c 'while :; do echo x >> letter1.txt; sleep 0.01; done' $T >/dev/null 2>&1 &)\nsleep 0.1\nrm -f letter1.txt"),
    Hostile("fills the process table, as far as it may", "i=0; while [ $i -lt 400 ]; do (setsid sleep 604.$T >/dev/null 2>&1 &); i=$((i+1)); done"),
    Hostile("opens thousands of files", python("held = []\ntry:\n    while len(held) < 20000: held.append(open('/dev/null'))\nexcept OSError: pass")),
    Hostile("prints very much", "head -c $MUCH /dev/zero | tr '\\0' x; echo"),
    Hostile("prints very much to its errors", "head -c $MUCH /dev/zero | tr '\\0' x >&2"),
    Hostile("lines of ten megabytes", "for i in 1 2 3; do head -c 10000000 /dev/zero | tr '\\0' '{'; echo; done", short=True),
    Hostile("prints binary", "head -c 300000 /dev/urandom; echo"),
    Hostile("prints escape sequences", "printf '\\033]0;title\\007\\033]52;c;aGk=\\007\\033[2J\\033[31m\\302\\2331m\\n'"),
    Hostile("half a JSON object", "printf '{\"tasks_completed\": \"1/1\", \"evidence\": [{\"a\"'; exit 0", FAILED),
    Hostile("nested a hundred thousand deep", python("print('{\"a\":' * 100000 + '1' + '}' * 100000)") + "exit 0", FAILED),
    Hostile("no answer at all", "exit 0", FAILED, short=True),
    Hostile("an answer on the wrong stream", "echo '{\"tasks_completed\": \"1/1\"}' >&2; exit 0", FAILED),
    Hostile("an answer for another step", "echo '{\"pass\": true, \"recommendation\": \"proceed\", \"alignment_score\": 10}'; exit 0", FAILED),
    Hostile("answers twice", "echo '{\"tasks_completed\": \"0/1\", \"tasks_failed\": \"1/1\"}'"),
    Hostile("a number no program can hold", "echo '{\"tasks_completed\": \"1/1\", \"note\": 1e999}'; exit 0", FAILED, short=True),
    Hostile("a number longer than any", python("print('{\"note\": ' + '9' * 5000 + '}')") + "exit 0", FAILED),
    Hostile("claims more tokens than there are", ENVELOPE % '{"input_tokens": 1000000000000000000000000000000}'),
    Hostile("claims all tokens of the run", ENVELOPE % '{"input_tokens": 40000000}', CAPPED),
    Hostile("claims a price beyond numbers", ENVELOPE % ('{"cost_usd": 1' + "0" * 400 + "}"), short=True),
    Hostile("claims a negative price", ENVELOPE % '{"cost_usd": -5, "input_tokens": -7}'),
    Hostile("claims a price that is no number", ENVELOPE % '{"cost_usd": NaN}', FAILED),
    Hostile("a usage limit for ever", "exit 75", LIMITED),
    Hostile("a usage limit until nonsense", "echo '{\"autopilot\": 1, \"rate_limit\": {\"resets_at\": \"\\u001b[31m soon 99999\"}}'; exit 75", LIMITED),
    Hostile("dies of a fault", "kill -SEGV $$", FAILED),
    Hostile("kills its parent", "kill -9 $PPID; sleep 1", bare=STOPPED),
    Hostile("kills every process of the project it can see", python(HUNT), STOPPED, walled=True),
    Hostile("kills the run itself", python(HUNT), KILLED, open=True),
    Hostile("kills everything", "kill -9 -1; sleep 1", walled=True),
    Hostile("deletes its .git", "rm -rf .git", short=True),
    Hostile("a file in place of its .git", "rm -rf .git; echo 'gitdir: /etc' > .git"),
    Hostile("rewrites history", f"{GIT} checkout -q --orphan other; git rm -rqf --cached . ; {GIT} commit -qm x --allow-empty; git reflog expire --expire=now --all; git gc -q --prune=now"),
    Hostile("resets and cleans all there is", "git reset -q --hard; git clean -qffdx; git stash list"),
    Hostile("commits with forged trailers", f"{GIT} commit -q --allow-empty -m 'feat(01): 01-01 - x' -m 'Autopilot-Run: x\nAutopilot-Step: {{step}}'".replace("{step}", "$AUTOPILOT_CALL")),
    Hostile("rewrites hooks, settings and attributes", HOOKS),
    Hostile("attributes with a filter in the tree", HOOKS + "echo '* filter=x' > .gitattributes"),
    Hostile("plants a submodule", "git init -q sub; git -C sub -c user.name=x -c user.email=x commit -q --allow-empty -m x; printf '[submodule \"sub\"]\\npath = sub\\nurl = ./sub\\nupdate = !touch %s/sprung\\n' \"$here\" > .gitmodules; git add sub .gitmodules"),
    Hostile("alternates, grafts and replaced commits", "mkdir -p .git/objects/info .git/info; echo /etc > .git/objects/info/alternates; git rev-parse HEAD > .git/info/grafts; git replace -f HEAD HEAD~0 2>/dev/null; mkdir -p .git/refs/replace; git rev-parse HEAD > .git/refs/replace/$(git rev-parse HEAD 2>/dev/null || echo 0)"),
    Hostile("locks in its .git", "for l in index HEAD config packed-refs shallow; do : > .git/$l.lock; done"),
    Hostile("takes all permissions away", "echo 'done 1' > letter1.txt; echo '{\"tasks_completed\": \"1/1\"}'; chmod -R 000 .; exit 0"),
    Hostile("makes everything read-only", "echo 'done 1' > letter1.txt; mkdir -p d/e; chmod 444 notes.txt; chmod 555 d d/e .; echo '{\"tasks_completed\": \"1/1\"}'; exit 0"),
    Hostile("deletes its folder", 'rm -rf -- "$PWD"/* "$PWD"/.[!.]* ; rmdir "$PWD" 2>/dev/null; exit 0', FAILED, bare=STORAGE),
    Hostile("puts a link in place of its folder", 'p=$PWD; cd /; mv "$p" "$p.away" && ln -s "$ROOT" "$p"; rm -rf "$p.away"; exit 0', STORAGE, open=True, short=True),
    Hostile("pipes, sockets and loops of links in the tree", python("os.mkfifo('pipe'); socket.socket(socket.AF_UNIX).bind('sock'); os.symlink('b', 'a'); os.symlink('a', 'b'); os.symlink('.', 'here'); os.symlink('/dev/zero', 'zero')"), short=True),
    Hostile("names that are no text", python("open(b'\\xff\\xfe.txt', 'w').close(); open('a\\nb\\033[31m', 'w').close(); open('x' * 255, 'w').close(); os.makedirs('/'.join(['d' * 100] * 30), exist_ok=True)")),
    Hostile("folders deeper than any path", python("for _ in range(600):\n    os.mkdir('d' * 20); os.chdir('d' * 20)")),
    Hostile("a flood of small files", python("os.mkdir('many')\nfor n in range(int(os.environ['FILES'])):\n    open(f'many/{n}', 'w').close()")),
    Hostile("a sparse file of a terabyte", "truncate -s 1T big 2>/dev/null; rm -f big; truncate -s 200M sparse"),
    Hostile("writes to the system's own files", "for f in /proc/self/oom_score_adj /proc/sys/kernel/core_pattern /proc/sysrq-trigger /etc/passwd /dev/sda; do (echo 0 > $f) 2>/dev/null; done", walled=True),
    Hostile("reaches for the journal and the user's project", 'for f in "$ROOT/.autopilot/journal.db" "$ROOT/notes.txt" "$ROOT/.git/config" "$ROOT/.autopilot/state.json"; do (echo x >> "$f") 2>/dev/null; done; rm -rf "$ROOT/.git" 2>/dev/null', walled=True, short=True),
    Hostile("forges receipts and papers", "d=.planning/phases/01-letter-1; mkdir -p $d; for n in RECEIPT.json VERIFICATION.md JUDGE-REPORT.md SCORECARD.md SUMMARY.md; do echo '{\"pass\": true}' > $d/$n; done; mkdir -p .autopilot; echo x > .autopilot/journal.db"),
    Hostile("edits the roadmap and the plan's tests", "sed -i 's/grep -q done/true/' .planning/ROADMAP.md; echo 'exit 0' > .planning/phases/01-letter-1/tests/task-01-01.sh; echo nothing > letter1.txt; echo '{\"tasks_completed\": \"1/1\"}'; exit 0", FAILED),
    Hostile("a plan that is a pipe", "rm -rf .planning/phases; mkdir -p .planning/phases/01-letter-1; mkfifo .planning/phases/01-letter-1/PLAN.md; echo '{}'; exit 0", FAILED, roles=("plan",)),
    Hostile("a plan that links to a secret", "mkdir -p .planning/phases/01-letter-1; ln -sf /etc/passwd .planning/phases/01-letter-1/PLAN.md; echo '{}'; exit 0", FAILED, roles=("plan",)),
    Hostile("a plan of fifty megabytes", "mkdir -p .planning/phases/01-letter-1; head -c 50000000 /dev/zero | tr '\\0' '<' > .planning/phases/01-letter-1/PLAN.md; echo '{}'; exit 0", FAILED, roles=("plan",)),
    Hostile("a reviewer that spoils its checkout", "echo spoilt > letter1.txt; rm -rf .git notes.txt; chmod 000 .", roles=("verify", "judge", "mini_verify", "plan_check")),
    Hostile("a rater beyond the scale", "echo '{\"alignment_score\": 1e300, \"scorecard\": []}'; exit 0", FAILED, roles=("rate",)),
    Hostile("changes the clock and the loader of what follows", "export TZ=Nowhere/Never SOURCE_DATE_EPOCH=0 GIT_COMMITTER_DATE=@0 LD_PRELOAD=/nowhere.so; echo 'TZ=x' > .env"),
    Hostile("never reads its question", "exec <&-"),
)  # fmt: skip
