"""The help text. It is written out because building it would cost more time than the rest of `--help`."""

VERBS = ("run", "resume", "stop", "status", "rebuild", "demo", "explain")

HELP = """\
usage: autopilot [run] [PHASES ...] [options]
       autopilot VERB [options]

Drives a coding agent through the phases of .planning/ROADMAP.md, unattended.
An agent's words can only lower its verdict: a phase passes on what Autopilot
ran itself. Stop it at any time; it goes on from the last finished step.

PHASES: 3   3-7   3,5,8   7 8 9.1   all   next
        none: go on with the run that is unfinished

verbs:
  run                   run phases (the word may be left out)
  resume                go on with the run that was interrupted
  stop                  stop the run; `resume` goes on with it
  status                show how the run stands
  rebuild               write .autopilot/state.json anew from the journal
  demo                  a whole run on a sample project, no account needed
  explain               print the pipeline and the rules of its gates

options of run:
  --agent NAME          exec:'COMMAND' or scripted:FILE (docs/agents.md)
  --reviewer NAME       the agent that verifies, judges and rates
  --model NAME          the model the agent should use
  --lenient             pass at 7 of 10 instead of 9, without remediation
  --sandbox auto|none   confine the commands Autopilot runs (default: auto)
  --json                progress to standard error, and the result as the last
                        line of standard output; also for resume
  --plain               plain lines of progress; also for resume

options of other verbs:
  stop --now            do not wait for it to tidy up; nothing is lost by it
  status --json         print .autopilot/state.json itself
  demo --keep FOLDER    make the sample project there and leave it
  explain --json        the same as JSON
  --help, --version

exit codes: 0 all passed, 2 usage or roadmap, 3 no agent, 4 no sandbox,
10 some phases failed, 11 a person must decide, 20 cap reached, 21 breaker,
22 usage limit, 75 another run is active, 130 interrupted, 1 a bug
"""
