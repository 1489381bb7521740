# every command explains itself from its table
$ assay run --help
assay run: run a command and tell what it used

usage: assay run [options] [--] COMMAND…

identity:
  -n, --name NAME           what to call the run (default: the program's name)
      --run-version V       version of the program that is measured
  -l, --label K=V           a label to find the run by; repeatable
  -p, --param K=V           a parameter of the job, kept with it; repeatable

measuring:
  -i, --interval TIME       time between samples; denser in the first second
                            (default 0.5s)
  -m, --metrics LIST        measure only these groups or keys (see 'assay help
                            metrics') (default all)
      --basic               totals only, no samples
      --files               which files were read and written most; costs each
                            call a little
      --stacks MODES        where its Pythons spend the time: cpu, wall, gil, or
                            several: cpu,wall
      --stacks-rate HZ      looks at the stacks a second, on average (default
                            100)
  -t, --timeout TIME        end the job after this time: TERM, 5 s later KILL;
                            exit 124
      --wait-all            wait for every process of the job, not only the
                            command
      --heap FILE           record all that it allocates to FILE, as 'assay heap
                            run' does
      --heap-native         with --heap: of a Python program the native frames
                            too
      --heap-python-allocators
                            with --heap: every object of Python
      --heap-sample BYTES   with --heap: one allocation in so many bytes, at
                            random

output:
      --json                the whole run as JSON on standard output, no summary
      --csv                 the timeline as CSV on standard output, no summary
  -o, --output FILE         write JSON (or CSV: --csv, *.csv) to FILE; '-' is
                            standard output
      --html FILE           write a page of plots and tables to FILE; '-' is
                            standard output
  -q, --quiet               no status line, no summary

store:
      --store PATH          keep the run in this folder, instead of $ASSAY_STORE
                            or ~/.local/share/assay
      --no-store            do not keep the run
      --keystone-dir DIR    also append Keystone's record to
                            DIR/jobs_history.jsonl
  -h, --help                show this help

examples:
  assay run -- sleep 0.1
      what did it use?
  assay run --name demo --label who=me -- sort /etc/passwd
      name and label it
  assay run --json -o run.json -- gzip -9c /etc/passwd
      the whole record as a file
  assay run --stacks cpu,wall -- python3 -c 'sum(range(10**7))'
      and where it spent it
  assay run --heap run.heap -- python3 -c 'x = [bytes(999)] * 9'
      and where its memory went
  assay run --metrics cpu,memory --interval 0.1 -- true
      pay only for what is asked

'assay help run' tells more.

$ assay attach --help
assay attach: measure a running process

usage: assay attach [options] PID [-- COMMAND…]

identity:
  -n, --name NAME           what to call the run (default: the program's name)
      --run-version V       version of the program that is measured
  -l, --label K=V           a label to find the run by; repeatable
  -p, --param K=V           a parameter of the job, kept with it; repeatable

measuring:
  -i, --interval TIME       time between samples; denser in the first second
                            (default 0.5s)
  -m, --metrics LIST        measure only these groups or keys (see 'assay help
                            metrics') (default all)
      --basic               totals only, no samples
      --files               which files were read and written most; costs each
                            call a little
      --stacks MODES        where its Pythons spend the time: cpu, wall, gil, or
                            several: cpu,wall
      --stacks-rate HZ      looks at the stacks a second, on average (default
                            100)
  -d, --duration TIME       stop measuring after this time (default: until it
                            ends or Ctrl-C)
  -c, --include-children    its descendants too

output:
      --json                the whole run as JSON on standard output, no summary
      --csv                 the timeline as CSV on standard output, no summary
  -o, --output FILE         write JSON (or CSV: --csv, *.csv) to FILE; '-' is
                            standard output
      --html FILE           write a page of plots and tables to FILE; '-' is
                            standard output
  -q, --quiet               no status line, no summary

store:
      --store PATH          keep the run in this folder, instead of $ASSAY_STORE
                            or ~/.local/share/assay
      --no-store            do not keep the run
      --keystone-dir DIR    also append Keystone's record to
                            DIR/jobs_history.jsonl
  -h, --help                show this help

examples:
  assay attach --duration 0.2 $PPID
      a look at the calling shell
  assay attach --include-children $PPID -- sleep 0.2
      while something drives it

'assay help attach' tells more.

$ assay dump --help
assay dump: what the threads of a Python program are doing now

usage: assay dump [options] PID

options:
  -l, --locals              the variables of each function, too
      --async               the tasks of asyncio too: what each awaits, as a
                            tree
  -d, --duration TIME       with --async: watch for TIME first, to tell how long
                            each task ran and awaited
      --full-filenames      files with their whole path
  -j, --json                print JSON
  -h, --help                show this help

examples:
  assay dump $PPID
      the Python program that started this shell
  assay dump --locals $PPID
      with what its variables hold
  assay dump --async $PPID
      and its tasks, with what each awaits
  assay dump --async -d 0.1 $PPID
      how long each of them ran and awaited
  assay dump --json $PPID
      the same for a program

'assay help dump' tells more.

$ assay top --help
assay top: where a Python program spends its time, while it does

usage: assay top [options] PID

options:
  -r, --rate HZ             looks a second, on average; moments are random
                            (default 100)
  -d, --duration TIME       stop after this time (default: at 'q'; for a table
                            after 5 s)
  -s, --subprocesses        the Pythons among its descendants too
  -g, --gil                 begin with time that the GIL was held
  -i, --idle                begin with time by the clock, of threads that wait
                            too

which part of the profile; TEXT is in a function's or file's name:
      --metric NAME         only this kind of value: cpu, wall, gil, bytes, … as
                            the file has them
      --focus FUNCTION      only stacks through this function, from it on
      --callers             with --focus: what called it instead of what it
                            calls
      --show-from-frame TEXT
                            only stacks with such a frame, from the first of
                            them on
      --show-stacks TEXT    only stacks with such a frame, whole
      --hide-stacks TEXT    no stack with such a frame
      --hide-frames TEXT    stacks without such frames
      --highlight TEXT      mark such frames, where a view can
  -h, --help                show this help

examples:
  python3 -c 'while True: pass' & assay top -d 0.5 $! | cat; kill $!
      a table after half a second

'assay help top' tells more.

$ assay jobs --help
assay jobs: list the runs, those still going on first

usage: assay jobs [options]

which runs:
  -n, --name NAME           of this name; * and ? stand for any letters
  -s, --status STATUS       that stand so: running, success, failed, timeout,
                            error or interrupted
  -l, --label KEY=VALUE     with this label; repeatable
      --since WHEN          started within the last 2h, 7d …, or since a date:
                            2026-11-01 or '2026-11-01 12:00'
      --until WHEN          started before then; written like --since
      --run-version VERSION
                            of this version of the program
      --host HOST           that ran on this machine
      --parts               also the parts of others: probes of a capacity,
                            cells of a sweep, further targets of a load

order:
      --sort KEY            largest or latest first: start, duration, cpu,
                            memory or name (default start)
      --ascending           smallest or earliest first
      --limit N             at most so many; 0 shows all (default 20)

output:
      --json                print JSON
      --csv                 print comma-separated values
      --ids                 print the ids only, one a line
      --store PATH          the folder of runs, instead of $ASSAY_STORE or
                            ~/.local/share/assay
  -h, --help                show this help

examples:
  assay jobs
      the twenty that started last
  assay jobs --status failed --since 7d
      what failed this week
  assay jobs --name 'train*' --sort memory --limit 5
      the five largest of a name
  assay jobs --parts
      probes and cells, too
  assay jobs --json
      the same for a program

'assay help jobs' tells more.

$ assay show --help
assay show: everything about one run, also while it runs

usage: assay show [options] [ID | last]

options:
      --json                print JSON
      --csv                 print the timeline as comma-separated values
      --tree                print the tree of its processes over time
      --sockets             print its sockets, those with the most bytes
      --store PATH          the folder of runs, instead of $ASSAY_STORE or
                            ~/.local/share/assay
  -h, --help                show this help

examples:
  assay show
      the run that started last
  assay show last --json
      the same for a program
  assay show last --csv
      its timeline for a spreadsheet
  assay show last --tree
      its processes, over time
  assay show last --sockets
      its connections one by one

'assay help show' tells more.

$ assay report --help
assay report: one run as a page of HTML: plots, processes, every number

usage: assay report [options] [ID | last] | --stacks [FILE | ID | last]

options:
  -o, --output FILE         write to FILE instead of assay-ID.html; '-' is
                            standard output
      --store PATH          the folder of runs, instead of $ASSAY_STORE or
                            ~/.local/share/assay

functions of a profile:
      --stacks              a table of functions, their lines, callers and
                            callees
      --sort BY             the most first by: self or total (default self)
  -n, --top N               so many functions (default: 15; all with --json)
      --full-filenames      files with their whole path
      --json                print JSON

which part of the profile; TEXT is in a function's or file's name:
      --metric NAME         only this kind of value: cpu, wall, gil, bytes, … as
                            the file has them
      --focus FUNCTION      only stacks through this function, from it on
      --callers             with --focus: what called it instead of what it
                            calls
      --show-from-frame TEXT
                            only stacks with such a frame, from the first of
                            them on
      --show-stacks TEXT    only stacks with such a frame, whole
      --hide-stacks TEXT    no stack with such a frame
      --hide-frames TEXT    stacks without such frames
      --highlight TEXT      mark such frames, where a view can
  -h, --help                show this help

examples:
  assay report -o run.html
      the run that started last
  assay report last -o - >run.html
      the same, through standard output
  assay report --stacks profile.pb.gz
      which functions took most

'assay help report' tells more.

$ assay flame --help
assay flame: a profile as a flame graph: a picture, or a page

usage: assay flame [options] [FILE | ID | last]

output:
  -o, --output FILE         x.svg: a picture, x.html: a page; '-' is standard
                            output (default flame.html)
  -f, --format FORMAT       what it is to be (default: by FILE's ending): svg or
                            html
      --title TEXT          what stands above it (default: its name)
      --store PATH          the folder of runs, instead of $ASSAY_STORE or
                            ~/.local/share/assay

how it is drawn:
      --icicle              the outermost frame on top
      --reverse             merge from the innermost frame: who called it
      --lines               a box for each line, not for each function
  -t, --threads             threads, processes and tasks apart
      --full-filenames      files with their whole path

which part of the profile; TEXT is in a function's or file's name:
      --metric NAME         only this kind of value: cpu, wall, gil, bytes, … as
                            the file has them
      --focus FUNCTION      only stacks through this function, from it on
      --callers             with --focus: what called it instead of what it
                            calls
      --show-from-frame TEXT
                            only stacks with such a frame, from the first of
                            them on
      --show-stacks TEXT    only stacks with such a frame, whole
      --hide-stacks TEXT    no stack with such a frame
      --hide-frames TEXT    stacks without such frames
      --highlight TEXT      mark such frames, where a view can
  -h, --help                show this help

examples:
  assay flame profile.pb.gz -o profile.svg
      a picture
  assay flame profile.pb.gz
      flame.html, to look around in
  assay flame --hide-stacks epoll profile.pb.gz
      without what waits

'assay help flame' tells more.

$ assay stats --help
assay stats: runs counted and added up, by name

usage: assay stats [options]

which runs:
  -n, --name NAME           of this name; * and ? stand for any letters
  -s, --status STATUS       that stand so: running, success, failed, timeout,
                            error or interrupted
  -l, --label KEY=VALUE     with this label; repeatable
      --since WHEN          started within the last 2h, 7d …, or since a date:
                            2026-11-01 or '2026-11-01 12:00'
      --until WHEN          started before then; written like --since
      --run-version VERSION
                            of this version of the program
      --host HOST           that ran on this machine

output:
      --json                print JSON
      --store PATH          the folder of runs, instead of $ASSAY_STORE or
                            ~/.local/share/assay
  -h, --help                show this help

examples:
  assay stats
      all runs
  assay stats --since 30d --label team=physics
      one team, this month
  assay stats --json
      the same for a program

'assay help stats' tells more.

$ assay export --help
assay export: write runs for other programs: JSON, Keystone, CSV

usage: assay export [options] [ID…]

which runs:
  -n, --name NAME           of this name; * and ? stand for any letters
  -s, --status STATUS       that stand so: running, success, failed, timeout,
                            error or interrupted
  -l, --label KEY=VALUE     with this label; repeatable
      --since WHEN          started within the last 2h, 7d …, or since a date:
                            2026-11-01 or '2026-11-01 12:00'
      --until WHEN          started before then; written like --since
      --run-version VERSION
                            of this version of the program
      --host HOST           that ran on this machine

output:
  -f, --format FORMAT       how to write them: json, keystone or csv (default
                            json)
  -o, --output FILE         write to FILE instead of standard output
      --store PATH          the folder of runs, instead of $ASSAY_STORE or
                            ~/.local/share/assay
  -h, --help                show this help

examples:
  assay export -o runs.json
      everything
  assay export --format keystone --since 7d
      this week, as Keystone would have written it
  assay export --format csv -o runs.csv
      a table for a spreadsheet

'assay help export' tells more.

$ assay import --help
assay import: take over the history of another system

usage: assay import [options] keystone FILE

options:
      --json                print JSON
      --store PATH          the folder of runs, instead of $ASSAY_STORE or
                            ~/.local/share/assay
  -h, --help                show this help

examples:
  assay import keystone jobs_history.jsonl
      take over a history

'assay help import' tells more.

$ assay rm --help
assay rm: forget runs

usage: assay rm [options] ID…

options:
      --store PATH          the folder of runs, instead of $ASSAY_STORE or
                            ~/.local/share/assay
  -h, --help                show this help

examples:
  assay rm last
      forget the run that started last
  assay rm $(assay jobs --ids --status error)
      forget those that went wrong

'assay help rm' tells more.

$ assay gc --help
assay gc: remove old runs: keep so many, so old, so large

usage: assay gc --keep N|AGE|SIZE [options]

options:
  -k, --keep N|AGE|SIZE     how many runs to keep (1000), how old they may be
                            (30d), or how much room they may take (2GiB);
                            repeatable
      --keep-per-name N     how many runs to keep of each name
      --dry-run             only say what would be removed
      --json                print JSON
      --store PATH          the folder of runs, instead of $ASSAY_STORE or
                            ~/.local/share/assay
  -h, --help                show this help

examples:
  assay gc --keep 30d --dry-run
      what would be removed?
  assay gc --keep 10000 --keep 2GiB
      a store that does not grow
  assay gc --keep-per-name 100
      the last hundred of each name

'assay help gc' tells more.

$ assay doctor --help
assay doctor: what this machine lets you measure, and how to be let

usage: assay doctor [options]

options:
      --json                print JSON
      --store PATH          the folder of runs, instead of $ASSAY_STORE or
                            ~/.local/share/assay
  -h, --help                show this help

examples:
  assay doctor
      what can I measure here?
  assay doctor --json
      the same for a program

'assay help doctor' tells more.

$ assay help --help
assay help: the manual of a command, or the list of metrics

usage: assay help [COMMAND | metrics | prices]

options:
  -h, --help                show this help

examples:
  assay help
      the commands
  assay help run
      the manual of 'assay run'
  assay help metrics
      what is measured, and in which units
  assay help prices
      what each group of metrics costs here

'assay help help' tells more.

$ assay help show
assay show: everything about one run, also while it runs

usage: assay show [options] [ID | last]

Who ran, how it ended, what it used and how that is known, its processes and
threads, its metrics over time, and what limited it. Without an ID, the run that
started last. An ID may be shortened as long as no other run begins like it.

A run that is still going on is shown as far as it has come.

'--json' prints the whole run as one document (docs/schema/run-1.json), '--csv'
its timeline: one line for each sample, empty cells where a value is unknown.

'--tree' prints all its processes below their parents, in the order of birth,
with their lives as bars. Siblings of one name and the same kind of children are
one row: cc1 ×340. With '--json' the same nested.

'--sockets' prints its TCP connections one by one, and what went by UDP between
two ports: the hundred with the most bytes, each with its own port, its peer
and, of TCP, its process, when it was opened and closed in seconds of the run,
and its last state. When, and UDP, are known where BPF tells. With '--json' the
same list; the whole run as '--json' has it as well.

options:
      --json                print JSON
      --csv                 print the timeline as comma-separated values
      --tree                print the tree of its processes over time
      --sockets             print its sockets, those with the most bytes
      --store PATH          the folder of runs, instead of $ASSAY_STORE or
                            ~/.local/share/assay
  -h, --help                show this help

examples:
  assay show
      the run that started last
  assay show last --json
      the same for a program
  assay show last --csv
      its timeline for a spreadsheet
  assay show last --tree
      its processes, over time
  assay show last --sockets
      its connections one by one

# the verbs of Keystone have help too, though they are not listed
$ assay job-history --help
assay job-history: Keystone's list of jobs; see 'assay jobs'

usage: assay job-history [options]

options:
  -l, --limit N             number of jobs to show (default 10)
  -t, --tool TOOL           filter by tool name
  -s, --status STATUS       filter by status: success, failed, timeout, error,
                            interrupted or running
      --json                print JSON
      --store PATH          the folder of runs, instead of $ASSAY_STORE or
                            ~/.local/share/assay
  -h, --help                show this help

examples:
  assay job-history --limit 20 --status failed
      the last twenty that failed

'assay help job-history' tells more.

$ assay job-details --help
assay job-details: Keystone's page of one job; see 'assay show'

usage: assay job-details [options] TASK_ID

options:
      --json                print JSON
      --store PATH          the folder of runs, instead of $ASSAY_STORE or
                            ~/.local/share/assay
  -h, --help                show this help

examples:
  assay job-details last
      the job that started last

'assay help job-details' tells more.

$ assay job-stats --help
assay job-stats: Keystone's totals of all jobs; see 'assay stats'

usage: assay job-stats [options]

options:
      --json                print JSON
      --store PATH          the folder of runs, instead of $ASSAY_STORE or
                            ~/.local/share/assay
  -h, --help                show this help

examples:
  assay job-stats
      all jobs

'assay help job-stats' tells more.

# nothing is wider than 80 columns, in any manual
$ for c in run attach dump jobs show report flame stats export import rm gc doctor help metrics; do assay help $c; done | sed 's/…/./g' | awk 'length > 80'
