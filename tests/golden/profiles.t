# a profile of Go's own, as folded stacks
$ assay convert $ROOT/tests/fixtures/profiles/go-cpu.pb.gz -F -f folded -
runtime.main;main.main;main.spin 17
runtime.main;main.main;main.spin;runtime.asyncPreempt 6

# by line, the files as they are
$ assay convert --full-filenames $ROOT/tests/fixtures/profiles/go-cpu.pb.gz -f folded - | head -n 1
runtime.main (runtime/proc.go:290);main.main (x/main.go:30);main.spin (x/main.go:20) 9

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

$ assay convert a.folded x.png
? 2
! assay convert: 'x.png' does not say which format it shall have
!     --format is one of folded|pprof

$ printf 'a;b 1\na;c\n' | assay convert - x.pb.gz
? 65
! assay: 'standard input': no folded stacks: line 2 has no count at its end

# a part of it: Cloud Profiler's filters
$ assay convert --focus main.main --hide-frames Preempt --metric cpu $ROOT/tests/fixtures/profiles/go-cpu.pb.gz -F -f folded -
main.main;main.spin 230000

$ assay convert --focus main.spin --callers $ROOT/tests/fixtures/profiles/go-cpu.pb.gz -F -f folded -
main.spin;main.main;runtime.main 23

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
in all 4 before, 12 after: +200 %

$ assay diff --by total --share -n 1 a.folded b.folded
before  after  change  relative  function  where
   0 %   17 %   +17 %       new  rest
and 2 more functions
in all 4 before, 12 after: +200 %

$ assay diff --json a.folded a.folded
{
  "schema": "assay/diff/1",
  "metric": "samples",
  "unit": "count",
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
    },
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
    }
  ]
}

$ assay diff a.folded b.folded -o d.pb.gz >/dev/null && assay convert d.pb.gz --metric after -f folded -
main 1
main;rest 2
main;work (app/work.py) 9

$ assay diff a.folded $ROOT/tests/fixtures/profiles/go-heap.pb.gz
? 2
! assay diff: the profile has no metric 'samples'
!     it has alloc_objects, alloc_space, inuse_objects, inuse_space
