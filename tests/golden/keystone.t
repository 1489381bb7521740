# the history of a Keystone installation comes over whole
$ assay import keystone $ROOT/tests/fixtures/keystone/jobs_history.jsonl
imported 6 runs

# again: nothing changes
$ assay import keystone $ROOT/tests/fixtures/keystone/jobs_history.jsonl
imported 0 runs, 6 were already there

$ assay import --json keystone - <$ROOT/tests/fixtures/keystone/jobs_history.jsonl
{
  "schema": "assay/import/1",
  "imported": 0,
  "already_there": 6,
  "refused": 0,
  "problems": []
}

$ assay jobs --csv | tr -d '\r'
id,name,version,kind,status,exit_code,signal,start_seconds,duration_seconds,cpu_seconds,cpu_user_seconds,cpu_system_seconds,memory_peak_bytes,verdict,host,command,error
kilorun23456,lammps,,import,failed,,9,1793692800.000000000,7.000000000,,,,,,,big.lammps,
vtz5y37fttop,fenicsx,,import,success,0,,1793689200.500000000,43.400000000,41.000000000,39.000000000,2.000000000,534773760,,,poisson.py,
65wkw25py35i,fenicsx,,import,error,1,,1793610900.000000000,1.500000000,1.000000000,0.900000000,0.100000000,67108864,,,poisson.py,[Errno 2] No such file or directory: 'docker'; the worker could not start the container because the …
s5rw336uzxpj,openfoam,,import,timeout,,,1793606400.000001000,3000.000000000,2950.250000000,2900.250000000,50.000000000,2148007936,,,example_cavity.py,Simulation timed out after 3000 seconds
lc6v3sdli2u4,lammps,,import,failed,1,,1793539800.000000000,12.500000000,10.500000000,10.000000000,0.500000000,134217728,,,example.lammps,"ERROR: Unknown pair style lj/cutt (src/force.cpp:275)
Last command: pair_style lj/cutt 2.5"
qyot7uq65woq,fenicsx,,import,success,0,,1793534400.123456000,45.370000000,42.470000000,40.120000000,2.350000000,537133056,,,poisson.py,

$ assay jobs --ids --ascending
qyot7uq65woq
lc6v3sdli2u4
s5rw336uzxpj
65wkw25py35i
vtz5y37fttop
kilorun23456

$ assay jobs --name fenicsx --status success --ids
vtz5y37fttop
qyot7uq65woq

$ assay jobs --label queue=night --ids
kilorun23456

$ assay jobs --since 2026-11-02 --until '2026-11-03 00:00' --ids
65wkw25py35i
s5rw336uzxpj

$ assay stats --json
{"schema":"assay/stats/1","names":[{"name":"fenicsx","count":3,"success":2,"failed":0,"timeout":0,"error":1,"interrupted":0,"success_ratio":0.6666666666666666,"duration_sum_seconds":90.27,"duration_mean_seconds":30.09,"cpu_sum_seconds":84.47,"cpu_mean_seconds":28.156666666666666,"memory_peak_max_bytes":537133056,"duration_max_seconds":45.37,"memory_peak_mean_bytes":379671893.3333333,"first_start_time":"2026-11-01T12:00:00.123456","last_start_time":"2026-11-03T07:00:00.500000","duration_trend_ratio_per_run":null},{"name":"lammps","count":2,"success":0,"failed":2,"timeout":0,"error":0,"interrupted":0,"success_ratio":0,"duration_sum_seconds":19.5,"duration_mean_seconds":9.75,"cpu_sum_seconds":10.5,"cpu_mean_seconds":10.5,"memory_peak_max_bytes":134217728,"duration_max_seconds":12.5,"memory_peak_mean_bytes":134217728,"first_start_time":"2026-11-01T13:30:00.000000","last_start_time":"2026-11-03T08:00:00.000000","duration_trend_ratio_per_run":null},{"name":"openfoam","count":1,"success":0,"failed":0,"timeout":1,"error":0,"interrupted":0,"success_ratio":0,"duration_sum_seconds":3000,"duration_mean_seconds":3000,"cpu_sum_seconds":2950.25,"cpu_mean_seconds":2950.25,"memory_peak_max_bytes":2148007936,"duration_max_seconds":3000,"memory_peak_mean_bytes":2148007936,"first_start_time":"2026-11-02T08:00:00.000001","last_start_time":"2026-11-02T08:00:00.000001","duration_trend_ratio_per_run":null}],"total":{"count":6,"success":2,"failed":2,"timeout":1,"error":1,"interrupted":0,"success_ratio":0.3333333333333333,"duration_sum_seconds":3109.77,"duration_mean_seconds":518.295,"cpu_sum_seconds":3045.22,"cpu_mean_seconds":609.044,"memory_peak_max_bytes":2148007936}}

# Keystone's own screens
$ assay job-history

Job History (showing 6 jobs):

1. Task: kilorun23456
   Tool: lammps, Script: big.lammps
   Status: FAILED
   Started: 2026-11-03T08:00:00.000000
   Duration: 7.0s
   CPU Time: N/A (user: N/A, system: N/A)
   Memory Peak: N/A

2. Task: a1b2c3d4-000...
   Tool: fenicsx, Script: poisson.py
   Status: SUCCESS
   Started: 2026-11-03T07:00:00.500000
   Duration: 43.4s
   CPU Time: 41.0s (user: 39.0s, system: 2.0s)
   Memory Peak: 510.0 MB

3. Task: short-task
   Tool: fenicsx, Script: poisson.py
   Status: ERROR
   Started: 2026-11-02T09:15:00.000000
   Duration: 1.5s
   CPU Time: 1.0s (user: 0.9s, system: 0.1s)
   Memory Peak: 64.0 MB
   Error: [Errno 2] No such file or directory: 'docker'; the worker could not start the container because the ...

4. Task: c0d1e2f3-aaa...
   Tool: openfoam, Script: example_cavity.py
   Status: TIMEOUT
   Started: 2026-11-02T08:00:00.000001
   Duration: 3000.0s
   CPU Time: 2950.25s (user: 2900.25s, system: 50.0s)
   Memory Peak: 2048.5 MB
   Error: Simulation timed out after 3000 seconds...

5. Task: 7b9d0f42-1c3...
   Tool: lammps, Script: example.lammps
   Status: FAILED
   Started: 2026-11-01T13:30:00.000000
   Duration: 12.5s
   CPU Time: 10.5s (user: 10.0s, system: 0.5s)
   Memory Peak: 128.0 MB
   Error: ERROR: Unknown pair style lj/cutt (src/force.cpp:275) Last command: pair_style lj/cutt 2.5...

6. Task: 3f2a8c1e-77a...
   Tool: fenicsx, Script: poisson.py
   Status: SUCCESS
   Started: 2026-11-01T12:00:00.123456
   Duration: 45.37s
   CPU Time: 42.47s (user: 40.12s, system: 2.35s)
   Memory Peak: 512.25 MB

$ assay job-history --tool nobody
No job history found

$ assay job-history -l 1 -t fenicsx -s error

Job History (showing 1 jobs):

1. Task: short-task
   Tool: fenicsx, Script: poisson.py
   Status: ERROR
   Started: 2026-11-02T09:15:00.000000
   Duration: 1.5s
   CPU Time: 1.0s (user: 0.9s, system: 0.1s)
   Memory Peak: 64.0 MB
   Error: [Errno 2] No such file or directory: 'docker'; the worker could not start the container because the ...

$ assay job-details 3f2a8c1e-77aa-4c0e-9d53-0b1f6a2e9c11

Job Details: 3f2a8c1e-77aa-4c0e-9d53-0b1f6a2e9c11

Basic Information:
  Tool: fenicsx
  Script: poisson.py
  Status: SUCCESS
  Return Code: 0

Timing:
  Started: 2026-11-01T12:00:00.123456
  Ended: 2026-11-01T12:00:45.493456
  Duration: 45.37s

Parameters:
  {
  "mesh_size": 64,
  "solver": "cg"
}

Resource Usage:
  CPU User Time: 40.12s
  CPU System Time: 2.35s
  CPU Total Time: 42.47s
  Memory Peak: 512.25 MB

Detailed Profile:
  Samples: 76
  Sampling Interval: 0.5s
  CPU: mean 61.42%, max 98.7%, min 3.1%
  Memory Used: mean 5120.33 MB, max 5320.11 MB, min 4980.02 MB
  Process CPU: mean 0.0%, max 0.0%, min N/A
  Process Memory: mean 88.12 MB, max 91.5 MB, min 85.25 MB
  Process VMS: mean N/A, max N/A, min N/A
  I/O: read 12.5 MB, write 301.25 MB, total 313.75 MB
  I/O Operations: read 410, write 5120

$ assay job-details kilorun23456

Job Details: kilorun23456

Basic Information:
  Tool: lammps
  Script: big.lammps
  Status: FAILED
  Return Code: -9

Timing:
  Started: 2026-11-03T08:00:00.000000
  Ended: 2026-11-03T08:00:07.000000
  Duration: 7.0s

Resource Usage:
  CPU User Time: N/A
  CPU System Time: N/A
  CPU Total Time: N/A
  Memory Peak: N/A

# -1 is Keystone's own; a list stays a list
$ assay job-details c0d1e2f3-aaaa-4bbb-8ccc-ddddeeeeffff

Job Details: c0d1e2f3-aaaa-4bbb-8ccc-ddddeeeeffff

Basic Information:
  Tool: openfoam
  Script: example_cavity.py
  Status: TIMEOUT
  Return Code: -1

Timing:
  Started: 2026-11-02T08:00:00.000001
  Ended: 2026-11-02T08:50:00.000001
  Duration: 3000.0s

Parameters:
  {
  "nu": 0.01,
  "steps": [
    1,
    2,
    3
  ]
}

Resource Usage:
  CPU User Time: 2900.25s
  CPU System Time: 50.0s
  CPU Total Time: 2950.25s
  Memory Peak: 2048.5 MB

Error Details:
  Simulation timed out after 3000 seconds

$ assay job-details 3f2a8c1e
? 1
Job 3f2a8c1e not found in history

$ assay job-stats

Job Statistics Summary:

Overall:
  Total Jobs: 6
  Successful: 2 (33.33%)
  Failed: 4
  Success Rate: 33.33%

Resource Usage:
  Total CPU Time: 3045.22s
  Total Duration: 3109.77s
  Average Duration: 518.29s

By Tool:
  lammps:
    Jobs: 2
    Successful: 0 (0.0%)
    Failed: 2
    Total Duration: 19.5s
  fenicsx:
    Jobs: 3
    Successful: 2 (66.67%)
    Failed: 1
    Total Duration: 90.27s
  openfoam:
    Jobs: 1
    Successful: 0 (0.0%)
    Failed: 1
    Total Duration: 3000.0s

# and back again: only what a record did not say is new in it
$ assay export --format keystone | python3 $ROOT/tests/lib/same_records.py $ROOT/tests/fixtures/keystone/jobs_history.jsonl
a1b2c3d4-0005-4000-8000-000000000005: error was not said, is null
a1b2c3d4-0005-4000-8000-000000000005: has_result was not said, is false
kilorun23456: params was not said, is {}
kilorun23456: end_time was not said, is "2026-11-03T08:00:07.000000"
kilorun23456: resource_usage was not said, is {"cpu_user_seconds": null, "cpu_system_seconds": null, "cpu_total_seconds": null, "memory_peak_mb": null}
kilorun23456: error was not said, is null
kilorun23456: has_result was not said, is false
4 of 6 records are the same; 6 came

$ assay export --format keystone
{"task_id":"3f2a8c1e-77aa-4c0e-9d53-0b1f6a2e9c11","tool":"fenicsx","script":"poisson.py","params":{"mesh_size":64,"solver":"cg"},"start_time":"2026-11-01T12:00:00.123456","end_time":"2026-11-01T12:00:45.493456","duration_seconds":45.37,"status":"success","returncode":0,"resource_usage":{"cpu_user_seconds":40.12,"cpu_system_seconds":2.35,"cpu_total_seconds":42.47,"memory_peak_mb":512.25},"error":null,"has_result":true,"detailed_profile":{"duration_seconds":45.37,"samples_collected":76,"sampling_interval_seconds":0.5,"cpu":{"mean_percent":61.42,"max_percent":98.7,"min_percent":3.1},"memory":{"mean_used_mb":5120.33,"max_used_mb":5320.11,"min_used_mb":4980.02},"process_cpu":{"mean_percent":0.0,"max_percent":0.0},"process_memory":{"mean_mb":88.12,"max_mb":91.5,"min_mb":85.25},"io_stats":{"read_mb":12.5,"write_mb":301.25,"read_count":410,"write_count":5120,"total_io_mb":313.75},"container_stats":{},"gpu_stats":{}}}
{"task_id":"7b9d0f42-1c33-4a7e-8f10-55d1c0ffee02","tool":"lammps","script":"example.lammps","params":{},"start_time":"2026-11-01T13:30:00.000000","end_time":"2026-11-01T13:30:12.500000","duration_seconds":12.5,"status":"failed","returncode":1,"resource_usage":{"cpu_user_seconds":10.0,"cpu_system_seconds":0.5,"cpu_total_seconds":10.5,"memory_peak_mb":128.0},"error":"ERROR: Unknown pair style lj/cutt (src/force.cpp:275)\nLast command: pair_style lj/cutt 2.5","has_result":true}
{"task_id":"c0d1e2f3-aaaa-4bbb-8ccc-ddddeeeeffff","tool":"openfoam","script":"example_cavity.py","params":{"nu":0.01,"steps":[1,2,3]},"start_time":"2026-11-02T08:00:00.000001","end_time":"2026-11-02T08:50:00.000001","duration_seconds":3000.0,"status":"timeout","returncode":-1,"resource_usage":{"cpu_user_seconds":2900.25,"cpu_system_seconds":50.0,"cpu_total_seconds":2950.25,"memory_peak_mb":2048.5},"error":"Simulation timed out after 3000 seconds","has_result":false}
{"task_id":"short-task","tool":"fenicsx","script":"poisson.py","params":{"mesh_size":128},"start_time":"2026-11-02T09:15:00.000000","end_time":"2026-11-02T09:15:01.500000","duration_seconds":1.5,"status":"error","returncode":1,"resource_usage":{"cpu_user_seconds":0.9,"cpu_system_seconds":0.1,"cpu_total_seconds":1.0,"memory_peak_mb":64.0},"error":"[Errno 2] No such file or directory: 'docker'; the worker could not start the container because the docker client is not installed on this machine","has_result":false}
{"task_id":"a1b2c3d4-0005-4000-8000-000000000005","tool":"fenicsx","script":"poisson.py","params":{"mesh_size":64},"start_time":"2026-11-03T07:00:00.500000","end_time":"2026-11-03T07:00:43.900000","duration_seconds":43.4,"status":"success","returncode":0,"resource_usage":{"cpu_user_seconds":39.0,"cpu_system_seconds":2.0,"cpu_total_seconds":41.0,"memory_peak_mb":510.0},"error":null,"has_result":false}
{"task_id":"kilorun23456","tool":"lammps","script":"big.lammps","params":{},"start_time":"2026-11-03T08:00:00.000000","end_time":"2026-11-03T08:00:07.000000","duration_seconds":7.0,"status":"failed","returncode":-9,"resource_usage":{"cpu_user_seconds":null,"cpu_system_seconds":null,"cpu_total_seconds":null,"memory_peak_mb":null},"error":null,"has_result":false,"queue":"night","retries":2}

$ assay export --format keystone kilorun23456 | assay import --store other keystone -
imported 1 run

$ assay export --format csv --name lammps | tr -d '\r'
id,name,version,kind,status,exit_code,signal,start_seconds,duration_seconds,cpu_seconds,cpu_user_seconds,cpu_system_seconds,memory_peak_bytes,verdict,host,command,error
lc6v3sdli2u4,lammps,,import,failed,1,,1793539800.000000000,12.500000000,10.500000000,10.000000000,0.500000000,134217728,,,example.lammps,"ERROR: Unknown pair style lj/cutt (src/force.cpp:275)
Last command: pair_style lj/cutt 2.5"
kilorun23456,lammps,,import,failed,,9,1793692800.000000000,7.000000000,,,,,,,big.lammps,

$ assay export -o all.json; python3 -c 'import json; d = json.load(open("all.json")); print(d["schema"], len(d["runs"]))'
assay/runs/1 6

$ assay export -o all.json -- qyot last; python3 -c 'import json; print([r["task_id"] for r in json.load(open("all.json"))["runs"]])'
['qyot7uq65woq', 'kilorun23456']

$ assay export --name x kilorun23456
? 2
! assay export: either name runs or filter them, not both

# lines that cannot be read are named; the others come in
$ assay import --store broken keystone $ROOT/tests/fixtures/keystone/broken.jsonl
? 65
! assay: ROOT/tests/fixtures/keystone/broken.jsonl:2: not JSON at column 35: premature end of input near '"fen'
! assay: ROOT/tests/fixtures/keystone/broken.jsonl:4: not a JSON object
! assay: ROOT/tests/fixtures/keystone/broken.jsonl:5: status 'exploded' is not one that a job can end with
! assay: ROOT/tests/fixtures/keystone/broken.jsonl:6: start_time is not a time like 2026-11-01T12:00:00.250000
! assay: ROOT/tests/fixtures/keystone/broken.jsonl:7: there is no start_time
! assay: ROOT/tests/fixtures/keystone/broken.jsonl:8: there is no duration_seconds, or it is negative
! assay: ROOT/tests/fixtures/keystone/broken.jsonl:9: there is no task_id
! assay: ROOT/tests/fixtures/keystone/broken.jsonl:11: params is not an object
! assay: ROOT/tests/fixtures/keystone/broken.jsonl:12: not JSON at column 4: '[' or '{' expected near 'null'
! assay: ROOT/tests/fixtures/keystone/broken.jsonl:13: not JSON at column 3: '[' or '{' expected near 'not'
! assay: 10 of 13 lines of 'ROOT/tests/fixtures/keystone/broken.jsonl' could not be imported
imported 2 runs, 10 lines could not be read

$ assay import --store broken --json keystone $ROOT/tests/fixtures/keystone/broken.jsonl
? 65
! {"error":"FORMAT","message":"10 of 13 lines of 'ROOT/tests/fixtures/keystone/broken.jsonl' could not be imported","hint":null}
{
  "schema": "assay/import/1",
  "imported": 0,
  "already_there": 2,
  "refused": 10,
  "problems": [
    {
      "line": 2,
      "why": "not JSON at column 35: premature end of input near '\"fen'"
    },
    {
      "line": 4,
      "why": "not a JSON object"
    },
    {
      "line": 5,
      "why": "status 'exploded' is not one that a job can end with"
    },
    {
      "line": 6,
      "why": "start_time is not a time like 2026-11-01T12:00:00.250000"
    },
    {
      "line": 7,
      "why": "there is no start_time"
    },
    {
      "line": 8,
      "why": "there is no duration_seconds, or it is negative"
    },
    {
      "line": 9,
      "why": "there is no task_id"
    },
    {
      "line": 11,
      "why": "params is not an object"
    },
    {
      "line": 12,
      "why": "not JSON at column 4: '[' or '{' expected near 'null'"
    },
    {
      "line": 13,
      "why": "not JSON at column 3: '[' or '{' expected near 'not'"
    }
  ]
}

$ assay import keystone nowhere.jsonl
? 66
! assay: open 'nowhere.jsonl': No such file or directory

# housekeeping
$ assay gc --keep 4 --dry-run
would remove 2 runs, <...> KiB

$ assay jobs --ids | wc -l
6

$ assay gc --keep-per-name 2
removed 1 run, <...>B

$ assay jobs --ids
kilorun23456
vtz5y37fttop
65wkw25py35i
s5rw336uzxpj
lc6v3sdli2u4

$ assay rm kilorun23456 kilorun
removed 1 run

$ assay rm kilorun
? 66
! assay: no run 'kilorun' in 'TMP/store'
!     'assay jobs' lists what there is

$ assay jobs --ids | wc -l
4
