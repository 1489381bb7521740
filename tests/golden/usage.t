# the program says what it is
$ assay --version
assay 0.1.0

$ assay
assay 0.1.0: what a job used, where it went, why, and what to change

usage: assay COMMAND [options]
start with: assay run -- COMMAND…

measure:
  run       run a command and tell what it used
  attach    measure a running process
  record    where a Python program spends its time, by its stacks
  dump      what the threads of a Python program are doing now
  loop      what holds an event loop, and for how long
  top       where a Python program spends its time, while it does
  load      send requests to a server and measure the answers
  capacity  find out how much load a server holds, and what limits it
  sweep     measure a server in every combination of settings
  rollouts  collect rollouts of a NeMo Gym environment and measure them
  stub      a server to load, that does what a script says
  heap      where the memory goes: allocations, peaks, leaks

history:
  jobs      list the runs, those still going on first
  show      everything about one run, also while it runs
  report    one run as a page of HTML: plots, processes, every number
  stats     runs counted and added up, by name
  export    write runs for other programs: JSON, Keystone, CSV
  import    take over the history of another system
  rm        forget runs
  gc        remove old runs: keep so many, so old, so large

profiles:
  profiles  profiles of a service over time: listed, merged, searched
  flame     a profile as a flame graph: a picture, or a page
  convert   a profile of one format as another
  merge     several profiles as one
  diff      what became of each function between two profiles

help:
  doctor    what this machine lets you measure, and how to be let
  help      the manual of a command, or the list of metrics

'assay help COMMAND' is the manual of a command, 'assay COMMAND --help' its
options in short, 'assay help metrics' the list of what is measured.

# a command that is nearly one gets a suggestion
$ assay rnu -- true
? 2
! assay: no command 'rnu'; did you mean 'run'?
!     'assay help' lists the commands

# one that is none gets told how programs are measured
$ assay ./simulation
? 2
! assay: no command './simulation'
!     'assay help' lists the commands; 'assay run -- ./simulation' measures a program

# options stand behind the command
$ assay --limit 3 jobs
? 2
! assay: no option '--limit' before a command
!     the options of a command stand behind it: assay COMMAND --limit

# an unknown option
$ assay jobs --limt 3
? 2
! assay jobs: no option '--limt'; did you mean '--limit'?
!     'assay jobs --help' shows its options

$ assay jobs --bogus
? 2
! assay jobs: no option '--bogus'
!     'assay jobs --help' shows its options

$ assay jobs -Z
? 2
! assay jobs: no option '-Z'
!     'assay jobs --help' shows its options

# values that make no sense; run exits 125 for its own mistakes, as env(1) does
$ assay run --interval abc -- true
? 125
! assay run: --interval: 'abc' is not a duration; write 0.5s, 200ms, 5m or 2h

$ assay run --interval 0 -- true
? 125
! assay run: --interval: '0' must be greater than zero

$ assay run --interval=-1 -- true
? 125
! assay run: --interval: '-1' must be greater than zero

$ assay run --interval
? 125
! assay run: --interval: needs a value; write --interval TIME
!     'assay run --help' shows its options

$ assay run --label nonsense -- true
? 125
! assay run: --label: 'nonsense' is not of the form KEY=VALUE

$ assay run
? 125
! assay run: no command was given to run
!     usage: assay run [options] [--] COMMAND…

$ assay run --
? 125
! assay run: no command was given to run
!     usage: assay run [options] [--] COMMAND…

$ assay jobs --limit many
? 2
! assay jobs: --limit: 'many' is not a whole number

$ assay jobs --sort sped
? 2
! assay jobs: --sort: 'sped' is not one of start|duration|cpu|memory|name

$ assay jobs --since yesterday
? 2
! assay jobs: --since: 'yesterday' is neither a time ago (30m, 2h, 7d) nor a date (2026-11-01, '2026-11-01 12:00')

$ assay jobs --since 2h --until 3h
? 2
! assay jobs: --since '2h' is not before --until '3h'

$ assay jobs --json=yes
? 2
! {"error":"USAGE","message":"--json: takes no value, but 'yes' was given","hint":null}

$ assay show one two
? 2
! assay show: 'two' is one word too many
!     usage: assay show [options] [ID | last]

$ assay rm
? 2
! assay rm: a word is missing
!     usage: assay rm [options] ID…

$ assay gc
? 2
! assay gc: what may stay?
!     write --keep 1000, --keep 30d, --keep 2GiB or --keep-per-name 100

$ assay gc --keep 0
? 2
! assay gc: --keep: '0' would keep nothing

$ assay gc --keep a-lot
? 2
! assay gc: --keep: 'a-lot' is not a number (1000), an age (30d) or a size (2GiB)

$ assay attach nobody
? 2
! assay attach: 'nobody' is not a process id

$ assay import csv runs.csv
? 2
! assay import: 'csv' is not a format that can be imported
!     write 'assay import keystone FILE'

$ assay help nothing
? 2
! assay help: no command or topic 'nothing'
!     'assay help' lists the commands; 'metrics' and 'prices' are topics

# with --json a mistake is JSON too
$ assay jobs --json --limit many
? 2
! {"error":"USAGE","message":"--limit: 'many' is not a whole number","hint":null}

$ assay show --json abc
? 66
! {"error":"NOTFOUND","message":"no run 'abc' in 'TMP/store'","hint":"'assay jobs' lists what there is"}

$ assay rnu --json
? 2
! {"error":"USAGE","message":"no command 'rnu'; did you mean 'run'?","hint":"'assay help' lists the commands"}

# --help wins over everything else that is wrong
$ assay jobs --limit many --help | head -n 3
assay jobs: list the runs, those still going on first

usage: assay jobs [options]

# output that cannot be written is an error
$ assay jobs >/dev/full
? 74
! assay: write standard output: No space left on device

# what is shown without UTF-8 is ASCII
$ LC_ALL=C assay rm
? 2
! assay rm: a word is missing
!     usage: assay rm [options] ID...

# two forms of output at once are one too many
$ assay show last --json --csv
? 2
! {"error":"USAGE","message":"either --json or --csv, not both","hint":null}

# a command that cannot be run says why, and what to do
$ assay run --no-store -- no-such-program
? 127
! assay: cannot run 'no-such-program': No such file or directory
!     is it spelled right, in PATH, and is what its first line (#!) names there?

$ touch plain; assay run --no-store -- ./plain
? 126
! assay: cannot run './plain': Permission denied
!     it must be a program or script that you may execute (chmod +x FILE)
