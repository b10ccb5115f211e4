"""The system calls a confined program is refused, by name and by their numbers on each machine we know."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Machine:
    """`audit` is the kernel's own number for the architecture; from `foreign` on, numbers belong to another ABI."""

    audit: int
    numbers: Mapping[str, int]
    foreign: int | None = None


# The same on every architecture since Linux 5.1.
_COMMON = {
    "pidfd_send_signal": 424, "io_uring_setup": 425, "io_uring_enter": 426, "io_uring_register": 427,
    "open_tree": 428, "move_mount": 429, "fsopen": 430, "fsconfig": 431, "fsmount": 432, "fspick": 433,
    "clone3": 435, "pidfd_getfd": 438, "mount_setattr": 442, "quotactl_fd": 443, "landlock_create_ruleset": 444,
}  # fmt: skip
X86_64 = Machine(
    audit=0xC000003E,
    foreign=0x40000000,
    numbers={
        **_COMMON,
        "ioctl": 16, "socket": 41, "connect": 42, "sendto": 44, "sendmsg": 46, "bind": 49, "listen": 50,
        "socketpair": 53, "setsockopt": 54, "clone": 56, "ptrace": 101, "syslog": 103, "pivot_root": 155, "prctl": 157,
        "adjtimex": 159, "chroot": 161, "acct": 163, "settimeofday": 164, "mount": 165, "umount2": 166, "swapon": 167,
        "swapoff": 168, "reboot": 169, "sethostname": 170, "setdomainname": 171, "iopl": 172, "ioperm": 173,
        "init_module": 175, "delete_module": 176, "quotactl": 179, "lookup_dcookie": 212, "clock_settime": 227,
        "kexec_load": 246, "add_key": 248, "request_key": 249, "keyctl": 250, "unshare": 272, "vmsplice": 278,
        "perf_event_open": 298, "fanotify_init": 300, "name_to_handle_at": 303, "open_by_handle_at": 304,
        "clock_adjtime": 305, "sendmmsg": 307, "setns": 308, "process_vm_readv": 310, "process_vm_writev": 311,
        "kcmp": 312, "finit_module": 313, "kexec_file_load": 320, "bpf": 321, "userfaultfd": 323,
    },
)  # fmt: skip
AARCH64 = Machine(
    audit=0xC00000B7,
    numbers={
        **_COMMON,
        "lookup_dcookie": 18, "ioctl": 29, "umount2": 39, "mount": 40, "pivot_root": 41, "chroot": 51, "quotactl": 60,
        "vmsplice": 75, "acct": 89, "unshare": 97, "kexec_load": 104, "init_module": 105, "delete_module": 106,
        "clock_settime": 112, "syslog": 116, "ptrace": 117, "reboot": 142, "sethostname": 161, "setdomainname": 162,
        "prctl": 167, "settimeofday": 170, "adjtimex": 171, "socket": 198, "socketpair": 199, "bind": 200,
        "listen": 201, "connect": 203, "sendto": 206, "setsockopt": 208, "sendmsg": 211, "add_key": 217,
        "request_key": 218, "keyctl": 219, "clone": 220, "swapon": 224, "swapoff": 225, "perf_event_open": 241,
        "fanotify_init": 262, "name_to_handle_at": 264, "open_by_handle_at": 265, "clock_adjtime": 266, "setns": 268,
        "sendmmsg": 269, "process_vm_readv": 270, "process_vm_writev": 271, "kcmp": 272, "finit_module": 273,
        "bpf": 280, "userfaultfd": 282, "kexec_file_load": 294,
    },
)  # fmt: skip
MACHINES: Mapping[str, Machine] = {"x86_64": X86_64, "amd64": X86_64, "aarch64": AARCH64, "arm64": AARCH64}

# Nothing a build or a test needs, and much of what kernel exploits have used.
KERNEL = (
    "bpf", "perf_event_open", "userfaultfd", "keyctl", "add_key", "request_key", "kexec_load", "kexec_file_load",
    "init_module", "finit_module", "delete_module", "reboot", "swapon", "swapoff", "acct", "quotactl", "quotactl_fd",
    "settimeofday", "clock_settime", "clock_adjtime", "adjtimex", "syslog", "lookup_dcookie", "iopl", "ioperm",
    "open_by_handle_at", "name_to_handle_at", "fanotify_init", "kcmp", "pidfd_getfd", "vmsplice",
)  # fmt: skip
MOUNTS = (
    "mount", "umount2", "pivot_root", "chroot", "open_tree", "move_mount", "fsopen", "fsconfig", "fsmount", "fspick",
    "mount_setattr", "unshare", "setns", "sethostname", "setdomainname",
)  # fmt: skip
OTHERS_MEMORY = ("ptrace", "process_vm_readv", "process_vm_writev")
CALLING_OUT = ("connect", "bind")
# Programs ask whether these exist and have another way: the answer is that they do not.
ABSENT = ("io_uring_setup", "io_uring_enter", "io_uring_register")
