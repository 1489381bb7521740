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
