"""The help text. It is written out because building it would cost more time than the rest of `--help`."""

VERBS = (
    "run",
    "resume",
    "stop",
    "retry",
    "status",
    "replay",
    "rebuild",
    "adopt",
    "demo",
    "explain",
    "doctor",
    "progress",
    "phases",
    "init",
    "trust",
    "receipt",
    "report",
    "verdict",
    "trends",
    "map",
    "discuss",
    "debug",
    "loop",
    "serve",
    "export",
)

HELP = """\
usage: autopilot [run] [PHASES ...] [options]
       autopilot [--project DIR] VERB [options]

Drives a coding agent through the phases of .planning/ROADMAP.md, unattended.
An agent's words can only lower its verdict: a phase passes on what Autopilot
ran itself. Stop it at any time; it goes on from the last finished step.

PHASES: 3   3-7   3,5,8   7 8 9.1   all   next   v1.0-2 (of a milestone)
        none: go on with the run that is unfinished

verbs:
  run                   run phases (the word may be left out)
  resume                go on with the run that was interrupted
  stop                  stop the run; `resume` goes on with it
  retry [N]             try failed phase N again from the step that failed; or
                        a run that waits for a usage limit asks again at once
  status                show how the run stands
  verdict               N pass, fail or issues: decide on a phase that waits
  replay                play a run once more, as fast as you like
  rebuild               write .autopilot/state.json anew from the journal
  adopt                 make the runs here yours, after you moved the project
                        or lost your key
  demo                  a whole run on a sample project, no account needed
  explain               print the pipeline and the rules of its gates
  doctor                check all that a run depends on, and say how to mend it
  progress              the phases of the roadmap, and what to do next
  trends                how the runs so far compare with each other
  phases                list, check, add, insert AFTER or remove N
  init                  make the planning files of a new project
  trust                 show what the repository asks for, and agree to it
  receipt               show [N] what decided phases; check N does it again
  report                tell a run at its end; --html as a page to look at
  map [PHASES]          ask what phases do not say, and keep the answers
  discuss [PHASES]      talk about what is open in phases; runs nothing
  debug "WHAT IS WRONG" find the cause of a problem and fix it, roadmap or not
  loop                  one session after another, in the mode it is sure of
  serve [FOLDER ...]    the dashboard: runs live in a browser, on this machine
  export [RUN]          --otel sends a run's traces to an OpenTelemetry
                        collector; --json prints them

options of run:
  --agent NAME          auto (default), claude, codex, gemini, ..., acp:COMMAND,
                        exec:COMMAND, scripted:FILE, replay:RUN (docs/agents.md)
  --reviewer NAME       the agent that verifies, judges and rates
  --model NAME          the model the agent should use
  --complete            all outstanding phases; what a failure blocks is skipped
  --force [PHASES]      do completed phases again, from research on
  --quality [PHASES]    work on phases until they have 9.5 of 10
  --gaps [PHASES]       close what lowered the score of completed phases
  --discuss [PHASES]    talk about what is open in phases before they are run
  --map [PHASES]        ask what phases do not say; alone it runs nothing
  --answers FILE        what to answer where a person would be asked
  --lenient             pass at 7 of 10 instead of 9, without remediation
  --checkpoint-every N  pause for a look after every N phases
  --jobs N              up to N phases at a time, where they allow it;
  --sequential          one phase after the other, as without --jobs
  --sandbox TIER        auto (default), bubblewrap, landlock, seatbelt or none;
                        also for resume, as are --agent and --unsandboxed
  --unsandboxed         confine nothing; then no result counts as verified
  --allow-host HOST     a host[:port] agents may reach besides their service
  --open-network        agents reach all that you do (docs/security.md)
  --visual              look at the app's pages in every phase, not only in
                        those of type ui or mixed (docs/configuration.md)
  --from N, --to N      only phases from N on, up to N (without PHASES: of
                        those outstanding)
  --only N,M            only these phases
  --evidence SOURCE     box, table or summaries: what decides whether a phase is
                        done where the planning files disagree
  --max-usd N           stop when the run has cost this many dollars;
  --max-tokens N        tokens; also for resume, which may raise them
  --max-hours N         hours of work; docs/operating.md has all brakes
  --wait, --no-wait     wait until a usage limit resets (default) or stop there;
                        also for resume, loop
  --failover NAME       the agent to ask when the usual one is not to be had
                        (again for more); also for resume, loop
  --roadmap take|keep   phases that have started and were edited since: start
                        them over, or finish them as they were; also for resume
  --trust HASH          agree without a question to what has this hash (see
                        trust); also for every verb that runs commands, and as
                        the variable AUTOPILOT_TRUST
  --no-keep-awake       let the machine go to sleep; also for resume
  --dry-run             tell what would happen and cost; do nothing
  --json                progress to standard error, and the result as the last
                        line of standard output; also for resume
  --plain               plain lines of progress instead of the live view; also
                        for resume, demo, status --watch and replay

options of other verbs:
  resume --now          wait neither until a circuit breaker has cooled down nor
                        for a usage limit
  retry N --step STEP   from research, plan, plan_check, execute, verify, judge,
                        judge_divergence or rate on; options as resume
  stop --now            do not wait for it to tidy up; nothing is lost by it
  verdict N issues "TEXT"  what is wrong (again for more): the next try mends
                        it; fail takes texts too; --json for programs
  status --json         print .autopilot/state.json itself
  status --watch        the live view of a run in another terminal; q leaves
  replay [RUN]          --speed N times as fast as it happened (20); the newest
                        run if none is named; q leaves
  demo --keep FOLDER    make the sample project there and leave it
  explain --json        the same as JSON; also for doctor, progress, trends
  doctor --write-config write the detected commands to .planning/config.json
  doctor --notify       send a test by every way you want to be told of things
  phases list --json    the phases as JSON; also for its other verbs
  phases check --no-run do not run the criteria to see which hold already
  phases add "TEXT"     --depends N,M, --goal TEXT, --criterion TEXT (again for
                        more), --anyway though another phase says the same
  phases insert N "TEXT"   a phase N.1, N.2, ... behind phase N; options as add
  phases remove N --yes do not ask; its folder is kept, nothing is renumbered
  init --from-file FILE a TOML or Markdown file with name, goal and phases; or
                        --name TEXT --goal TEXT --phase "Name: goal" (again)
  trust --show          only show it, with its hash; --json for programs
  trust --trust HASH    agree to what has this hash, until it changes
  trust --unsandboxed   the same for runs without a sandbox
  trust --revoke        take your consent back: the next run asks again
  receipt show N --json the in-toto statement; also for receipt check
  receipt check N       --file RECEIPT.json, --sandbox TIER as for run
  report [RUN]          of the newest run, or of the one whose name begins so
  report --html [FILE]  as one page, in .autopilot/report.html unless named;
                        --json for programs
  map, discuss          --answers FILE, --agent, --model, --sandbox, --max-usd,
                        --max-tokens, --json as for run
  debug --check COMMAND a command that fails because of the problem (again for
                        more); without one the project's own commands; options
                        about agents, sandbox, caps and output as for run
  loop                  --mode feature, deep or housekeeping: do not ask the
                        selector; --max-sessions N (5), --max-hours N (4),
                        --max-tokens N, --confidence-threshold N (0.85),
                        --dry-run, --dryRun,
                        --json, agents as for run (docs/session-loop.md)
  serve --read-only     nothing can be done from the page; also for sharing by
                        --host ADDRESS; --port N (docs/dashboard.md)
  --project DIR         before the verb: do it in that folder
  --help, --version

exit codes: 0 all passed, 2 usage or roadmap, 3 no agent, 4 no sandbox,
5 consent is missing, 10 some phases failed, 11 a person must decide, 12 passed
with gaps, 20 cap reached, 21 breaker, 22 usage limit, 75 another run is active,
130 interrupted, 1 a bug
"""
