# the family lists its members
$ assay heap
assay heap: where the memory goes: allocations, peaks, leaks

usage: assay heap COMMAND [options]

commands:
  heap run          run a command and record all that it allocates
  heap attach       record what a running process allocates from now on
  heap live         who holds memory, while a program runs
  heap flamegraph   the memory as a flame graph: a page, or a picture
  heap table        which lines the memory is of, by thread and allocator
  heap tree         who holds it, from the outermost caller on
  heap summary      which functions the memory is of
  heap stats        how much was allocated, held and left, and by which lines
  heap transform    a capture for other tools: pprof, folded, speedscope, CSV
  heap diff         what became of the memory of each function

examples:
  assay heap run -- sort /etc/passwd
      every allocation of a program
  assay heap stats sort.heap
      the numbers of a capture

'assay help heap' tells more.

$ assay help heap | head -20
assay heap: where the memory goes: allocations, peaks, leaks

usage: assay heap COMMAND [options]

'assay heap run' starts a program and records every allocation that it makes and
frees, with the stack, the thread and the time: of Python and of native code,
without changing either. What it has recorded is a file, the capture, and the
other commands are views of it, under the names that memray gave them.

A view is of one of four things: what was there at the peak, the moment when all
processes together held most; what was never freed ('--leaks'); what was freed
at once ('--temporary-allocations'); or all that was ever allocated ('--all').
'--from' and '--until' look at a part of the time, and the filters of profiles
at a part of the stacks.

commands:
  heap run          run a command and record all that it allocates
  heap attach       record what a running process allocates from now on
  heap live         who holds memory, while a program runs
  heap flamegraph   the memory as a flame graph: a page, or a picture

# a member that is nearly one gets a suggestion, its options stand behind it
$ assay heap flame x.heap
? 2
! assay: no command 'heap flame'; did you mean 'heap flamegraph'?
!     'assay help heap' lists its commands

$ assay heap nonsense
? 2
! assay: no command 'heap nonsense'
!     'assay help heap' lists its commands

$ assay heap --json stats
? 2
! {"error":"USAGE","message":"no option '--json' before a command","hint":"the options of a command stand behind it: assay heap COMMAND --json"}

$ assay heap stats --help
assay heap stats: how much was allocated, held and left, and by which lines

usage: assay heap stats [options] FILE

options:
  -n, --limit N             so many rows of each list (default 5)
      --json                print JSON

which part of the capture:
      --from TIME           only from this time after the start on
      --until TIME          only until this time after the start
      --partial             of a damaged file what is before the damage
  -h, --help                show this help

examples:
  assay heap stats sort.heap
      all numbers
  assay heap stats --json sort.heap
      for programs

'assay help heap stats' tells more.

$ assay heap run --help
assay heap run: run a command and record all that it allocates

usage: assay heap run [options] [--] COMMAND…

what is recorded:
      --native              of a Python program the native frames too
      --python-allocators   every object of Python, not only what malloc is
                            asked for
      --follow-fork         the processes that it starts too
      --sample BYTES        one allocation in so many bytes, at random, instead
                            of all: 512KiB
      --aggregate           keep sums only: a small file, without a view over
                            time

output:
  -o, --output FILE         the capture (default: assay-NAME.PID.heap)
  -f, --force               overwrite FILE if it is there
      --json                the numbers as JSON on standard output, no summary
  -q, --quiet               no status line, no summary

identity:
  -n, --name NAME           what to call the run (default: the program's name)
      --run-version V       version of the program that is measured
  -l, --label K=V           a label to find the run by; repeatable

store:
      --store PATH          keep the run in this folder, instead of $ASSAY_STORE
                            or ~/.local/share/assay
      --no-store            do not keep the run
  -h, --help                show this help

examples:
  assay heap run -- sort /etc/passwd
      a native program
  assay heap run -o x.heap -- python3 -c 'x = [bytes(999)] * 9'
      a Python program
  assay heap run -f -o x.heap --python-allocators -- python3 -c 'x = {1: 2}'
      each of its objects

'assay help heap run' tells more.

# what cannot be is refused
$ assay heap run
? 125
! assay heap run: no command was given to run
!     usage: assay heap run [options] [--] COMMAND…

$ assay heap stats
? 2
! assay heap stats: a word is missing
!     usage: assay heap stats [options] FILE

$ assay heap stats nothing.heap
? 66
! assay: open 'nothing.heap': No such file or directory

$ assay heap summary --leaks --all nothing.heap
? 2
! assay heap summary: either --leaks or --all, not both

$ assay heap tree --temporary-allocation-threshold 3 --leaks nothing.heap
? 2
! assay heap tree: --temporary-allocation-threshold goes with neither --leaks nor --all

$ assay heap table --from 2s --until 1s nothing.heap
? 2
! assay heap table: --from is not before --until

$ assay heap diff nothing.heap
? 2
! assay heap diff: compare with what?
!     a second capture, or two moments of one: --from TIME [--until TIME]

$ assay heap transform xls nothing.heap
? 2
! assay heap transform: no format 'xls'
!     it is one of csv|folded|pprof|speedscope|firefox|callgrind|pstats

$ assay heap flamegraph --temporal -o x.svg nothing.heap
? 2
! assay heap flamegraph: --temporal needs a page: name it x.html

$ assay heap flamegraph -o x nothing.heap
? 2
! assay heap flamegraph: what is 'x' to be?
!     name it x.svg or x.html, or say --format svg or html
