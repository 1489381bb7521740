# an empty store is no mistake
$ assay jobs
no runs yet; measure one with: assay run -- COMMAND

$ assay jobs --name x
no runs match

$ assay jobs --ids

$ assay jobs --json
{"schema":"assay/list/1","runs":[]}

$ assay jobs --csv | tr -d '\r'
id,name,version,kind,status,exit_code,signal,start_seconds,duration_seconds,cpu_seconds,cpu_user_seconds,cpu_system_seconds,memory_peak_bytes,verdict,host,command,error

$ assay stats
no runs yet; measure one with: assay run -- COMMAND

$ assay stats --json
{"schema":"assay/stats/1","names":[],"total":{"count":0,"success":0,"failed":0,"timeout":0,"error":0,"interrupted":0,"success_ratio":null,"duration_sum_seconds":0,"duration_mean_seconds":null,"cpu_sum_seconds":null,"cpu_mean_seconds":null,"memory_peak_max_bytes":null}}

$ assay show
? 66
! assay: there are no runs yet
!     measure one: assay run -- COMMAND

$ assay show abc
? 66
! assay: no run 'abc' in 'TMP/store'
!     'assay jobs' lists what there is

$ assay export
{"schema":"assay/runs/1","runs":[
]}

$ assay export --format keystone

$ assay export --format csv | tr -d '\r'
id,name,version,kind,status,exit_code,signal,start_seconds,duration_seconds,cpu_seconds,cpu_user_seconds,cpu_system_seconds,memory_peak_bytes,verdict,host,command,error

$ assay job-history
No job history found

$ assay job-stats
No jobs recorded yet

$ assay job-details abc
? 1
Job abc not found in history

# looking made nothing
$ ls store
? 2
! ls: cannot access 'store': No such file or directory

$ assay rm abc
? 66
! assay: no run 'abc' in 'TMP/store'
!     'assay jobs' lists what there is

$ assay gc --keep 10
removed 0 runs, 0 B
