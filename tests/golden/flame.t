# a flame graph as a picture: boxes, titles, widths; without its style and script
$ printf 'main;work (app/work.py:3) 3\nmain;work (app/work.py:4) 1\nmain;<b>&"x" 2\nmain 1\n' >a.folded; assay flame a.folded -f svg -o - | sed '/<style>/,/<\/style>/d; /<script>/,/<\/script>/d'
<svg xmlns="http://www.w3.org/2000/svg" width="1200" height="150" viewBox="0 0 1200 150" role="img">
<!-- assay 0.1.0 -->
<rect class="paper" width="1200" height="150"/>
<text class="title" x="12" y="28">a.folded</text>
<text class="words" x="12" y="48">7 samples</text>
<g id="boxes">
<g><title>all
total 7 (100 %), self 0 (0 %)</title><rect x="12.00" y="98" width="1176.00" height="17" fill="#c5ccd6"/><text x="16.00" y="111">all</text></g>
<g><title>main
total 7 (100 %), self 1 (14 %)</title><rect x="12.00" y="80" width="1176.00" height="17" fill="#c5ccd6"/><text x="16.00" y="93">main</text></g>
<g><title>work
app/work.py
total 4 (57 %), self 4 (57 %)</title><rect x="12.00" y="62" width="672.00" height="17" fill="#94a4e8"/><text x="16.00" y="75">work</text></g>
<g><title>&lt;b&gt;&amp;&quot;x&quot;
total 2 (29 %), self 2 (29 %)</title><rect x="684.00" y="62" width="336.00" height="17" fill="#c5ccd6"/><text x="688.00" y="75">&lt;b&gt;&amp;&quot;x&quot;</text></g>
</g>
<text class="words" id="told" x="12" y="138"></text>
</svg>

# lines apart, the outermost on top, under another title
$ assay flame a.folded -f svg -o - --lines --icicle --title 'two & two' | grep -o '<text.*</text>'
<text class="title" x="12" y="28">two &amp; two</text>
<text class="words" x="12" y="48">7 samples</text>
<text x="16.00" y="75">all</text>
<text x="16.00" y="93">main</text>
<text x="16.00" y="111">work (app/work.py:3)</text>
<text x="856.00" y="111">work (app/work.py:4)</text>
<text x="520.00" y="111">&lt;b&gt;&amp;&quot;x&quot;</text>
<text class="words" id="told" x="12" y="138"></text>

# from the innermost frame
$ assay flame a.folded -f svg -o - --reverse | grep -o '<text.*</text>'
<text class="title" x="12" y="28">a.folded</text>
<text class="words" x="12" y="48">7 samples, from the innermost frame</text>
<text x="16.00" y="111">all</text>
<text x="16.00" y="93">work</text>
<text x="16.00" y="75">main</text>
<text x="688.00" y="93">&lt;b&gt;&amp;&quot;x&quot;</text>
<text x="688.00" y="75">main</text>
<text x="1024.00" y="93">main</text>
<text class="words" id="told" x="12" y="138"></text>

# both kinds of file, told by their names
$ assay flame a.folded -o x.svg && assay flame a.folded && head -c 15 flame.html && tail -n 1 x.svg
x.svg
flame.html
<!doctype html></svg>

# what is no name of either is asked about
$ assay flame a.folded -o x.png
? 2
! assay flame: what is 'x.png' to be?
!     name it x.svg or x.html, or say --format svg or html

$ assay flame nothing.folded
? 66
! assay: no file and no run is called 'nothing.folded'
!     'assay jobs' lists the runs

# functions of a profile: lines, callers, callees
$ assay report --stacks a.folded
   self   total   samples  function
   57 %    57 %         4  work  app/work.py
                             lines  3: 43 % · 4: 14 %
                             called by  main 57 %
   29 %    29 %         2  <b>&"x"
                             called by  main 29 %
   14 %   100 %         1  main
                             calls  work 57 % · <b>&"x" 29 %

7 samples in 3 functions

$ assay report --stacks a.folded --sort total --top 1
   self   total   samples  function
   14 %   100 %         1  main
                             calls  work 57 % · <b>&"x" 29 %

7 samples in 3 functions, 1 listed

$ assay report --stacks a.folded --json | tr -d ' \n' | cut -c -240
{"schema":"assay/stacks/1","metric":"samples","unit":"count","total":7,"sampling":null,"functions_found":3,"functions":[{"function":"work","file":"app/work.py","line":null,"self":4,"total":4,"lines":[{"line":3,"self":3,"total":3},{"line":4,

# filters are the same everywhere
$ assay report --stacks a.folded --hide-stacks work --top 1
   self   total   samples  function
   67 %    67 %         2  <b>&"x"
                             called by  main 67 %

3 samples in 2 functions, 1 listed

$ assay flame a.folded -f svg -o - --focus work --highlight work.py | grep -o '<g class.*'
<g class="marked"><title>work

# before and after
$ printf 'main;work (app/work.py:3) 1\nmain;new 3\n' >b.folded; assay diff a.folded b.folded -o d.pb.gz >/dev/null; assay flame d.pb.gz -f svg -o - | grep -o 'before .*</title>.*fill="[^"]*"'
before 7 (100 %), after 4 (100 %)</title><rect x="12.00" y="98" width="1176.00" height="17" fill="#c5ccd6"
before 7 (100 %), after 4 (100 %)</title><rect x="12.00" y="80" width="1176.00" height="17" fill="#d6dbe2"
before 4 (57 %), after 1 (25 %)</title><rect x="12.00" y="62" width="504.00" height="17" fill="#91b7e5"
before 2 (29 %), after 0 (0 %)</title><rect x="936.00" y="62" width="168.00" height="17" fill="#5b9be8"
before 0 (0 %), after 3 (75 %)</title><rect x="516.00" y="62" width="420.00" height="17" fill="#ee6a55"

$ assay report --stacks nothing
? 66
! assay: no file and no run is called 'nothing'
!     'assay jobs' lists the runs

$ assay report --focus f last
? 2
! assay report: --json, --top and filters go with --stacks
!     'assay show --json' prints all of a run
