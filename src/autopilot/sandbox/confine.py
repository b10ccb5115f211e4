"""
Started as a program of its own: confines a child by Landlock and seccomp, and ends all that is left of it.

Run by path with `python -I -S`, so it imports nothing but the standard library's own modules and none of ours.
"""

import ctypes
import os
import signal
import stat
import struct
import sys

# System calls that have the same number on every architecture.
CREATE_RULESET, ADD_RULE, RESTRICT_SELF = 444, 445, 446
PATH_BENEATH, ASK_VERSION = 1, 1
PDEATHSIG, SECCOMP, CAPBSET_DROP, SECUREBITS, CHILD_SUBREAPER, NO_NEW_PRIVS, CAP_AMBIENT = 1, 22, 24, 28, 36, 38, 47
FILTER, CLEAR_ALL = 2, 4
NO_ROOT_POWERS = 0x2F  # being the superuser gives no capability, and these bits cannot be changed again
CAPABILITY_V3 = 0x20080522
# Rights on files: those of the first version, then by the version that brought them.
READ_ONLY = 0b1101  # execute, read a file, read a folder
LIST_ONLY = 0b1000  # names, of the folder and of all below it; no content
FIRST, REFER, TRUNCATE, IOCTL_DEV = (1 << 13) - 1, 1 << 13, 1 << 14, 1 << 15
ON_FILES = 0b111 | TRUNCATE | IOCTL_DEV  # those that mean something for what is no folder
SCOPED = 0b11  # abstract sockets and signals of others
SINCE = ((2, REFER), (3, TRUNCATE), (5, IOCTL_DEV))
SIGNALS_SINCE = 6
LIST, READ, WRITE = "--list", "--read", "--write"
CANNOT, COMPLAINT = 125, "confine: "


def abi() -> int:
    """The version of Landlock this kernel has; 0 without it."""
    return max(0, int(libc().syscall(CREATE_RULESET, None, 0, ASK_VERSION)))


def libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def restrict_files(paths: dict[str, list[str]], version: int) -> None:
    """From here on only these paths, and what lies beneath them, can be opened, each kind in its way."""
    call = libc().syscall
    all_rights = FIRST | sum(right for since, right in SINCE if version >= since)
    fields = (all_rights, 0, SCOPED) if version >= SIGNALS_SINCE else (all_rights,)
    attributes = struct.pack(f"={len(fields)}Q", *fields)
    ruleset = _checked(call(CREATE_RULESET, attributes, len(attributes), 0), "landlock_create_ruleset")
    kinds = {LIST: LIST_ONLY, READ: READ_ONLY, WRITE: all_rights}
    for path, rights in ((path, rights) for kind, rights in kinds.items() for path in paths[kind]):
        rule = _rule(path, rights)
        if rule is not None:
            _checked(call(ADD_RULE, ruleset, PATH_BENEATH, struct.pack("=Qi", *rule), 0), "landlock_add_rule")
            os.close(rule[1])
    _checked(call(RESTRICT_SELF, ruleset, 0), "landlock_restrict_self")
    os.close(ruleset)


def _rule(path: str, rights: int) -> tuple[int, int] | None:
    """The rights as the kernel takes them, and the opened path; what is not there needs no rule."""
    try:
        place = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return None
    is_folder = stat.S_ISDIR(os.fstat(place).st_mode)
    return (rights if is_folder else rights & ON_FILES), place


def drop_powers() -> None:
    """No capability is left and none comes back, also not for the superuser; no program can raise its rights."""
    prctl = libc().prctl
    _checked(prctl(NO_NEW_PRIVS, 1, 0, 0, 0), "no_new_privs")
    prctl(CAP_AMBIENT, CLEAR_ALL, 0, 0, 0)
    if os.geteuid() == 0:
        for capability in range(64):
            prctl(CAPBSET_DROP, capability, 0, 0, 0)
        prctl(SECUREBITS, NO_ROOT_POWERS, 0, 0, 0)
    head = struct.pack("=Ii", CAPABILITY_V3, 0)
    _checked(libc().syscall(_capset(), head, bytes(24)), "capset")


def _capset() -> int:
    return 126 if os.uname().machine == "x86_64" else 91


def apply_filter(program: bytes) -> None:
    """No way back: the filter holds for this process and all its children."""
    code = ctypes.create_string_buffer(program, len(program))
    fprog = struct.pack("HxxxxxxP", len(program) // 8, ctypes.addressof(code))
    _checked(libc().prctl(SECCOMP, FILTER, fprog, 0, 0), "seccomp")


def _checked(result: int, what: str) -> int:
    if result < 0:
        raise OSError(ctypes.get_errno(), f"{what}: {os.strerror(ctypes.get_errno())}")
    return result


def become_child(words: list[str]) -> None:
    """Confine ourselves as the words say and turn into the program behind `--`."""
    end = words.index("--")
    options = list(zip(words[:end:2], words[1:end:2], strict=True))
    paths = {kind: [value for name, value in options if name == kind] for kind in (LIST, READ, WRITE)}
    libc().prctl(PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    drop_powers()
    restrict_files(paths, abi())
    apply_filter(bytes.fromhex(dict(options)["--filter"]))
    os.execvp(words[end + 1], words[end + 1 :])  # noqa: S606 - the confined command itself, and no shell of ours


def end_all() -> None:
    """Kill every process beneath us until there is none: orphans come to us, however they were born."""
    try:
        while True:
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
            for pid in children():
                os.kill(pid, signal.SIGKILL)
            os.waitpid(-1, 0)
    except ChildProcessError:
        return


def children() -> list[int]:
    """Those of our children that still run; their own come to us when they are gone."""
    names = os.listdir("/proc")  # noqa: PTH208 - `pathlib` would take longer to load than all of this
    return [int(name) for name in names if name.isdigit() and _parent(name) == os.getpid()]


def _parent(pid: str) -> int:
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:  # noqa: PTH123 - as above
            return int(file.read().rpartition(b")")[2].split()[1])
    except OSError:
        return 0


def main(words: list[str]) -> int:
    """The command's exit code. At SIGTERM, and when whoever started us is gone, everything beneath us is killed."""
    parent = os.getppid()
    signal.signal(signal.SIGTERM, lambda *_: _give_up())
    libc().prctl(CHILD_SUBREAPER, 1, 0, 0, 0)
    libc().prctl(PDEATHSIG, signal.SIGTERM, 0, 0, 0)
    if os.getppid() != parent:
        return CANNOT
    child = os.fork()
    if child == 0:
        try:
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
            become_child(words)
        except OSError as error:
            os.write(2, f"{COMPLAINT}{error}\n".encode())
        os._exit(CANNOT)
    _, status = os.waitpid(child, 0)
    end_all()
    code = os.waitstatus_to_exitcode(status)
    return 128 - code if code < 0 else code


def _give_up() -> None:
    end_all()
    os._exit(128 + signal.SIGTERM)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
