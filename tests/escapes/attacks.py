"""
Ways out of a sandbox, each a small script that is really run inside one.

The shell knows `O` (a folder outside, with a project in it), `H` (the user's home), `V` (a process of theirs), `TCP`
and `UDP` (ports that are listened on), `ABSTRACT` (the name of a socket) and `TOKEN` (to be recognised by later).
"""

from dataclasses import dataclass, field
from typing import Literal

Kind = Literal["write", "read", "network", "process"]


@dataclass(frozen=True)
class Attack:
    """`tame` ones may be tried without any sandbox; `beyond` names tiers that cannot hold it, with the reason."""

    name: str
    kind: Kind
    script: str
    tame: bool = True
    beyond: dict[str, str] = field(default_factory=dict)


def python(code: str) -> str:
    return f"python3 - <<'CODE'\nimport ctypes, os, signal, socket, struct\nE = os.environ\n{code}\nCODE"


MEMORY = """
libc = ctypes.CDLL(None, use_errno=True)
start = next(int(l.split('-')[0], 16) for l in open(f"/proc/{E['V']}/maps") if '[stack]' in l)
end = next(int(l.split('-')[1].split()[0], 16) for l in open(f"/proc/{E['V']}/maps") if '[stack]' in l)
room = ctypes.create_string_buffer(end - start)
here, there = struct.pack('PN', ctypes.addressof(room), end - start), struct.pack('PN', start, end - start)
libc.process_vm_readv(int(E['V']), here, 1, there, 1, 0)
open('stolen', 'wb').write(room.raw)
"""
PTRACE = """
libc = ctypes.CDLL(None, use_errno=True)
if libc.ptrace(16, int(E['V']), None, None) == 0:
    os.kill(int(E['V']), signal.SIGKILL)
"""

ATTACKS = (
    Attack("a new file beside the folder", "write", "echo x > $O/new"),
    Attack("a new file by `..`", "write", "echo x > ../outside/new"),
    Attack("through a link to a file", "write", "ln -s $O/kept l; echo x > l"),
    Attack("through a link to a folder", "write", "ln -s $O l; echo x > l/new"),
    Attack("through a second name of a file", "write", "ln $O/kept l && echo x >> l"),
    Attack("moving a file out", "write", "echo x > f; mv f $O/new"),
    Attack("emptying a file", "write", ": > $O/kept"),
    Attack("deleting a file", "write", "rm -f $O/kept"),
    Attack("a line in the user's shell profile", "write", "echo x >> $H/.profile"),
    Attack("a git hook in the user's project", "write", "echo x > $O/project/.git/hooks/pre-commit"),
    Attack("the journal", "write", "echo x > $O/project/.autopilot/journal.db"),
    Attack("agents' settings in the user's home", "write", "mkdir -p $H/.claude; echo x > $H/.claude/settings.json"),
    Attack("through another process's folder", "write", "echo x > /proc/$V/cwd/new"),
    Attack("the folder of a process, by its root", "write", "echo x > /proc/$V/root$O/new"),
    Attack("system folders", "write", "for d in /usr /etc / /opt /var; do echo x > $d/$TOKEN; done; true", tame=False),
    Attack("shared temporary folders", "write", "for d in /tmp /var/tmp /dev/shm; do echo x > $d/$TOKEN; done; true"),
    Attack("mounting over what is closed", "write", "mount -o remount,rw /; mount --bind $PWD $O; echo x > $O/new", tame=False),
    Attack("a file larger than allowed", "write", "head -c 20000000 /dev/zero > big"),
    Attack(
        "the mode of a file of the user's", "write", "chmod 777 $O/kept",
        beyond={"landlock": "Landlock does not control modes, owners and dates"},
    ),
    Attack("a key in the user's home", "read", "cat $H/.ssh/id > stolen"),
    Attack("a key, through a link", "read", "ln -s $H/.ssh l; cat l/id > stolen"),
    Attack("the journal, read", "read", "cat $O/project/.autopilot/journal.db > stolen"),
    Attack("another process's environment", "read", "cat /proc/$V/environ > stolen"),
    Attack("our own environment", "read", "env > stolen; cat /proc/*/environ >> stolen"),
    Attack("another process's memory", "read", python(MEMORY)),
    Attack("password hashes", "read", "cat /etc/shadow /etc/gshadow > stolen", tame=False),
    Attack("TCP to this machine", "network", "echo x > /dev/tcp/127.0.0.1/$TCP"),
    Attack("UDP to this machine", "network", "echo x > /dev/udp/127.0.0.1/$UDP"),
    Attack("a socket in the file system", "network", python("s = socket.socket(1); s.connect(E['O'] + '/socket')")),
    Attack("an abstract socket", "network", python("s = socket.socket(1); s.connect('\\0' + E['ABSTRACT'])")),
    Attack(
        "a datagram from a pair of sockets", "network",
        python("a, b = socket.socketpair(1, 2); a.sendto(b'x', E['O'] + '/datagrams')"),
    ),
    Attack("killing a process", "process", "kill -9 $V"),
    Attack("killing every process", "process", "kill -9 -1", tame=False),
    Attack("attaching as a debugger", "process", python(PTRACE)),
    Attack(
        "killing by a handle", "process",
        python("signal.pidfd_send_signal(os.pidfd_open(int(E['V'])), signal.SIGKILL)"),
    ),
    Attack("a daemon without a mark", "process", "env -i setsid sleep 6.$TOKEN >/dev/null 2>&1 & sleep 0.1"),
    Attack("many processes", "process", "for i in {1..80}; do setsid sleep 6.$TOKEN & done >/dev/null 2>&1"),
    Attack("namespaces of its own", "process", "unshare -Urm true && echo x > gained", tame=False),
    Attack(
        "the kernel's settings", "process", tame=False,
        script='f=/proc/sys/kernel/core_pattern; v=$(cat $f) && printf %s "$v" > $f && echo x > gained',
    ),
)  # fmt: skip
