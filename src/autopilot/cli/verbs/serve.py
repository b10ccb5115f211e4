"""`autopilot serve`: the dashboard, until Ctrl-C."""

import argparse
from typing import Protocol

from autopilot.app.dashboard import Say, ServeRequest
from autopilot.cli import console
from autopilot.cli.verbs.run import here


class Server(Protocol):
    """What this verb needs of the program; `autopilot.app.dashboard` is one."""

    def serve(self, request: ServeRequest, say: Say) -> None: ...


def perform(options: argparse.Namespace, serving: Server) -> int:
    folders = tuple(options.folders) or (here(),)
    request = ServeRequest(folders=folders, port=options.port, host=options.host, read_only=options.read_only)
    serving.serve(request, console.say)
    return 0
