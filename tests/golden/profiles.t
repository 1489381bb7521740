# a profile of Go's own, as folded stacks
$ assay convert $ROOT/tests/fixtures/profiles/go-cpu.pb.gz -F -f folded -
! assay: the values are of 'cpu'; left out: samples
runtime.main;main.main;main.spin 170000
runtime.main;main.main;main.spin;runtime.asyncPreempt 60000

# by line, the files as they are
$ assay convert --full-filenames $ROOT/tests/fixtures/profiles/go-cpu.pb.gz -f folded - | head -n 1
! assay: the values are of 'cpu'; left out: samples
runtime.main (runtime/proc.go:290);main.main (x/main.go:30);main.spin (x/main.go:20) 90000

# there and back
$ printf 'main;work (app/work.py:3) 3\nmain 1\n' >a.folded; assay convert a.folded b.pb.gz && assay convert b.pb.gz -f folded -
main 1
main;work (app/work.py:3) 3

# what is no profile
$ echo hello | assay convert - x.folded
? 65
! assay: 'standard input': not a profile of any format that is known
!     'assay help convert' lists the formats

$ assay convert none.folded x.folded
? 66
! assay: no file and no run is called 'none.folded'
!     'assay jobs' lists the runs

# an ending says which format; one that says nothing is not taken for folded
$ assay convert a.folded x.png
? 2
! assay convert: 'x.png' ends as no format does that can be written
!     .pb.gz .speedscope.json .firefox.json .pstats .callgrind .folded .svg .html, or --format

$ assay record -o x.pdf -- true
? 2
! assay record: 'x.pdf' ends as no format does that can be written
!     .pb.gz .speedscope.json .firefox.json .pstats .callgrind .folded .svg .html, or --format

$ assay merge a.folded -o x.json
? 2
! assay merge: 'x.json' ends as no format does that can be written
!     .pb.gz .speedscope.json .firefox.json .pstats .callgrind .folded .svg .html, or --format

# text is folded: .txt, .out, a name without an ending, standard output
$ mkdir -p dir.x; for to in x.txt x.out dir.x/stacks .stacks -; do assay convert a.folded $to; done; cat x.txt x.out dir.x/stacks .stacks
main 1
main;work (app/work.py:3) 3
main 1
main;work (app/work.py:3) 3
main 1
main;work (app/work.py:3) 3
main 1
main;work (app/work.py:3) 3
main 1
main;work (app/work.py:3) 3

$ assay diff a.folded a.folded -o -
? 2
! assay diff: the table is on standard output: give the profile a file (-o)

$ printf 'a;b 1\na;c\n' | assay convert - x.pb.gz
? 65
! assay: 'standard input': no folded stacks: line 2 has no count at its end

# a part of it: Cloud Profiler's filters
$ assay convert --focus main.main --hide-frames Preempt --metric cpu $ROOT/tests/fixtures/profiles/go-cpu.pb.gz -F -f folded -
main.main;main.spin 230000

$ assay convert --focus main.spin --callers $ROOT/tests/fixtures/profiles/go-cpu.pb.gz -F -f folded -
! assay: the values are of 'cpu'; left out: samples
main.spin;main.main;runtime.main 230000

$ assay convert --metric heap $ROOT/tests/fixtures/profiles/go-cpu.pb.gz -f folded -
? 2
! assay convert: the profile has no metric 'heap'
!     it has samples, cpu

$ assay convert --callers $ROOT/tests/fixtures/profiles/go-cpu.pb.gz -f folded -
? 2
! assay convert: --callers of what? It wants --focus FUNCTION

# two as one
$ printf 'main;work (app/work.py:3) 3\nmain 1\n' >a.folded; printf 'main;work (app/work.py:4) 9\nmain;rest 2\nmain 1\n' >b.folded; assay merge a.folded b.folded -f folded -o -
main 2
main;rest 2
main;work (app/work.py:3) 3
main;work (app/work.py:4) 9

$ assay merge a.folded
? 2
! assay merge: merge wants -o FILE

# two compared: the most changed first
$ assay diff a.folded b.folded
before  after  change  relative  function  where
     3      9      +6    +200 %  work      app/work.py
     0      2      +2       new  rest
     1      1       0       0 %  main
samples: in all 4 before, 12 after: +200 %

$ assay diff --by total --share -n 1 a.folded b.folded
before  after  change  relative  function  where
   0 %   17 %   +17 %       new  rest
and 2 more functions
samples: in all 4 before, 12 after: +200 %

$ assay diff --json a.folded a.folded
{
  "schema": "assay/diff/1",
  "metric": "samples",
  "unit": "count",
  "sampling": {
    "before": null,
    "after": null
  },
  "all": {
    "before": 4,
    "after": 4,
    "change": 0,
    "relative": 0,
    "share_before": 1,
    "share_after": 1
  },
  "functions": [
    {
      "function": "work",
      "file": "app/work.py",
      "first_line": null,
      "self": {
        "before": 3,
        "after": 3,
        "change": 0,
        "relative": 0,
        "share_before": 0.75,
        "share_after": 0.75
      },
      "total": {
        "before": 3,
        "after": 3,
        "change": 0,
        "relative": 0,
        "share_before": 0.75,
        "share_after": 0.75
      }
    },
    {
      "function": "main",
      "file": null,
      "first_line": null,
      "self": {
        "before": 1,
        "after": 1,
        "change": 0,
        "relative": 0,
        "share_before": 0.25,
        "share_after": 0.25
      },
      "total": {
        "before": 4,
        "after": 4,
        "change": 0,
        "relative": 0,
        "share_before": 1,
        "share_after": 1
      }
    }
  ]
}

$ assay diff a.folded b.folded -o d.pb.gz >/dev/null && assay convert d.pb.gz --metric after -f folded -
main 1
main;rest 2
main;work (app/work.py) 9

$ assay diff a.folded $ROOT/tests/fixtures/profiles/go-heap.pb.gz
? 2
! assay diff: the profiles have no metric in common
!     one has samples, the other alloc_objects, alloc_space, inuse_objects, inuse_space

# Python's own profilers: each function below its callers
$ assay convert --metric calls $ROOT/tests/fixtures/profiles/cprofile-3.8.prof -f folded -
<built-in method builtins.sum>;<genexpr> (app/app.py:5) 5209
<method 'disable' of '_lsprof.Profiler' objects> 1
branch (app/app.py:8);leaf (app/app.py:4) 2
leaf (app/app.py:4);<built-in method builtins.sum> 9
main (app/app.py:16) 1
main (app/app.py:16);branch (app/app.py:8) 1
main (app/app.py:16);leaf (app/app.py:4) 1
main (app/app.py:16);recurse (app/app.py:12) 1
recurse (app/app.py:12);leaf (app/app.py:4) 6
recurse (app/app.py:12);recurse (app/app.py:12) 5

$ assay convert --metric calls $ROOT/tests/fixtures/profiles/cprofile-3.13.prof -f folded -
<built-in method builtins.sum>;<genexpr> (app/app.py:5) 5209
<method 'disable' of '_lsprof.Profiler' objects> 1
branch (app/app.py:8);leaf (app/app.py:4) 2
leaf (app/app.py:4);<built-in method builtins.sum> 9
main (app/app.py:16) 1
main (app/app.py:16);branch (app/app.py:8) 1
main (app/app.py:16);leaf (app/app.py:4) 1
main (app/app.py:16);recurse (app/app.py:12) 1
recurse (app/app.py:12);leaf (app/app.py:4) 6
recurse (app/app.py:12);recurse (app/app.py:12) 5

$ assay convert --metric calls $ROOT/tests/fixtures/profiles/profile.prof -f folded -
<function main at 0x7f19f4d699e0> (profile);main (app/app.py:16) 1
<function main at 0x7f19f4d699e0> (profile);setprofile 1
branch (app/app.py:8);leaf (app/app.py:4) 2
leaf (app/app.py:4);sum 9
main (app/app.py:16);branch (app/app.py:8) 1
main (app/app.py:16);leaf (app/app.py:4) 1
main (app/app.py:16);recurse (app/app.py:12) 1
profiler (profile);<function main at 0x7f19f4d699e0> (profile) 1
recurse (app/app.py:12);leaf (app/app.py:4) 6
recurse (app/app.py:12);recurse (app/app.py:12) 5
sum;<genexpr> (app/app.py:5) 5209

# yappi's three ways to say it
$ assay convert --metric time $ROOT/tests/fixtures/profiles/yappi.pstat -f folded -
<genexpr> (app/app.py:5) 2506
branch (app/app.py:8);leaf (app/app.py:4) 26
main (app/app.py:16) 13
main (app/app.py:16);branch (app/app.py:8) 10
main (app/app.py:16);leaf (app/app.py:4) 2
main (app/app.py:16);recurse (app/app.py:12) 5
recurse (app/app.py:12);leaf (app/app.py:4) 24
recurse (app/app.py:12);recurse (app/app.py:12) 19

$ assay convert --metric time $ROOT/tests/fixtures/profiles/yappi.callgrind -f folded -
<genexpr> (app/app.py:5) 2506
branch (app/app.py);leaf (app/app.py) 29
main (app/app.py);branch (app/app.py:8) 10
main (app/app.py);leaf (app/app.py) 9
main (app/app.py);recurse (app/app.py:12) 23
main (app/app.py:16) 12
recurse (app/app.py);leaf (app/app.py) 12

$ assay convert --metric time $ROOT/tests/fixtures/profiles/yappi.txt -f folded -
<genexpr> (app/app.py:5) 2506
branch (app/app.py:8) 10
leaf (app/app.py:4) 52
main (app/app.py:16) 13
recurse (app/app.py:12) 23

# valgrind's callgrind, with its caches
$ assay convert --metric Ir $ROOT/tests/fixtures/profiles/callgrind.out -f folded -
(below main)'2;main (app/small.c:4) 41
main (app/small.c);leaf (app/small.c) 18030
main (app/small.c);twice (app/small.c:3) 60
twice (app/small.c);leaf (app/small.c) 72060

$ assay convert $ROOT/tests/fixtures/profiles/callgrind.out -f callgrind - | head -n 16
# callgrind format
version: 1
creator: assay 0.1.0
positions: line
event: Ir : Ir (count)
event: Dr : Dr (count)
event: Dw : Dw (count)
event: I1mr : I1mr (count)
event: D1mr : D1mr (count)
event: D1mw : D1mw (count)
event: ILmr : ILmr (count)
event: DLmr : DLmr (count)
event: DLmw : DLmw (count)
events: Ir Dr Dw I1mr D1mr D1mw ILmr DLmr DLmw
summary: 90191 15038 15037 2 0 0 2 0 0

# perf script, without and with lines
$ assay convert --metric cpu-clock:u $ROOT/tests/fixtures/profiles/perf-script.txt -f folded -
__libc_start_call_main (x86_64-linux-gnu/libc.so.6);main (app/spin);leaf (app/spin) 80808

$ assay convert $ROOT/tests/fixtures/profiles/perf-srcline.txt -f folded -
! assay: the values are of 'cpu-clock:u'; left out: samples
__libc_start_call_main (libc-start.c:74);main (spin.c:5);leaf (spin.c:3) 30303

# speedscope
$ assay convert $ROOT/tests/fixtures/profiles/evented.speedscope.json -f folded -
a 752500
a;b (x.py:3) 252500

$ assay convert a.folded -f speedscope -
{"$schema":"https://www.speedscope.app/file-format-schema.json","exporter":"assay 0.1.0","shared":{"frames":[{"name":"main"},{"name":"work","file":"app/work.py","line":3}]},"profiles":[{"type":"sampled","name":"samples","unit":"none","startValue":0,"endValue":4,"samples":[[0,1],[0]],"weights":[3,1]}],"activeProfileIndex":0}

$ assay convert a.folded -f firefox - | cut -c 1-200
{"meta":{"interval":1,"startTime":0,"processType":0,"categories":[{"name":"Other","color":"grey","subcategories":["Other"]},{"name":"User","color":"yellow","subcategories":["Other"]}],"stackwalk":0,"v

$ assay convert a.folded x.yappi
? 2
! assay convert: 'x.yappi' ends as no format does that can be written
!     .pb.gz .speedscope.json .firefox.json .pstats .callgrind .folded .svg .html, or --format

# drawn, whatever command writes it
$ for f in x.html x.svg; do assay convert a.folded $f; assay merge a.folded a.folded -o m$f; assay diff a.folded a.folded -o d$f >/dev/null; done; head -qc 5 x.html mx.html dx.html x.svg mx.svg dx.svg; echo
<!doc<!doc<!doc<svg <svg <svg 

# marked
$ assay report --stacks --highlight work a.folded
   self   total   samples  function
   75 %    75 %         3 *work  app/work.py
                             lines  3: 75 %
                             called by  main 75 %
   25 %   100 %         1  main
                             calls  work 75 %

4 samples in 2 functions

$ assay report --stacks --highlight work --json a.folded | grep highlighted
      "highlighted": true
      "highlighted": false

$ assay diff --highlight work a.folded a.folded
no difference
samples: in all 4 before, 4 after: 0 %

$ sed 's/3$/5/' a.folded > more.folded; assay diff --highlight work a.folded more.folded
before  after  change  relative  function  where
     3      5      +2     +67 %  *work     app/work.py
     1      1       0       0 %  main
samples: in all 4 before, 6 after: +50 %

# runs of another store
$ assay flame --store elsewhere last -o - -f svg
? 66
! assay: no file and no run is called 'last'
!     'assay jobs' lists the runs

$ assay merge --store elsewhere -o x.pb.gz last
? 66
! assay: no file and no run is called 'last'
!     'assay jobs' lists the runs

$ assay report --stacks --store elsewhere last
? 66
! assay: no file and no run is called 'last'
!     'assay jobs' lists the runs
