# an ordinary user on a machine that was closed down
fixture doctor-user
$ assay doctor
assay 0.1.0, 8 CPUs, user 1000

the ladder: the highest rung that is there is used
  1 own control group  no      exact totals of a job, to the last child
                               this user may not make a group below its own
  1 BPF                no      every exit seen, many processes read cheaply
                               needs CAP_BPF and CAP_PERFMON
  2 exit records       no      what each process used, told at its end
                               needs CAP_NET_ADMIN
  3 perf events        no      CPU time of children that nobody waits for
                               refused (kernel.perf_event_paranoid=3)
  4 /proc              partly  the processes of a job, one by one
                               only this user's processes: /proc is mounted with
                               hidepid=2

beside it
    kernel             yes     starting and following a job
                               Linux 6.1.0-26-amd64
    pressure (PSI)     yes     time lost waiting for CPU, memory or disks
                               cpu, memory, io
    wait for a CPU     yes     time that ready threads had to wait
                               /proc/PID/schedstat
    delay accounting   no      time lost to swapping and disks *
                               kernel.task_delayacct=0
    ptrace             partly  stacks and memory of running processes
                               children only (kernel.yama.ptrace_scope=1)
    open files         partly  following many processes at once
                               at most 1024 at once; large jobs are read more
                               slowly
    clocks             yes     runs told apart across boots
                               boot 0f0e0d0c…, no time namespace
    Docker             no      containers by their names
                               /run/docker.sock is there, but not for this user
    store              yes     keeping runs
                               TMP/store: not there yet, the
                               first run makes it
    live runs          yes     runs cut short by a crash are kept
                               0 going on, 0 left behind
    terminal           yes     plots, and a line while a job runs
                               80 columns, UTF-8, no colours

  * what the machine would allow; this version does not use it yet

to have what is missing
  systemd-run --user --scope -p Delegate=yes assay run -- COMMAND
      for: own control group
  sudo setcap cap_bpf,cap_net_admin,cap_perfmon,cap_sys_ptrace+ep \
    "$(command -v assay)"
      for: BPF, exit records
  sudo sysctl kernel.perf_event_paranoid=2
      for: perf events
  sudo mount -o remount,hidepid=0 /proc
      for: /proc
  sudo sysctl kernel.yama.ptrace_scope=0
      for: ptrace
  ulimit -n 65536
      for: open files
  sudo usermod -aG docker "$USER"
      for: Docker

$ assay doctor --json | head -n 30
{
  "schema": "assay/doctor/1",
  "version": "0.1.0",
  "cpus": 8,
  "uid": 1000,
  "contained": false,
  "probes": {
    "cgroup": {
      "state": "no",
      "gives": "exact totals of a job, to the last child",
      "detail": "this user may not make a group below its own",
      "enable": "systemd-run --user --scope -p Delegate=yes assay run -- COMMAND",
      "rung": 1,
      "used": true
    },
    "bpf": {
      "state": "no",
      "gives": "every exit seen, many processes read cheaply",
      "detail": "needs CAP_BPF and CAP_PERFMON",
      "enable": "sudo setcap cap_bpf,cap_net_admin,cap_perfmon,cap_sys_ptrace+ep \"$(command -v assay)\"",
      "rung": 1,
      "used": true
    },
    "exits": {
      "state": "no",
      "gives": "what each process used, told at its end",
      "detail": "needs CAP_NET_ADMIN",
      "enable": "sudo setcap cap_bpf,cap_net_admin,cap_perfmon,cap_sys_ptrace+ep \"$(command -v assay)\"",
      "rung": 2,
      "used": true

# without UTF-8 the terminal is only partly usable
$ LC_ALL=C assay doctor | tail -n 5
      for: open files
  sudo usermod -aG docker "$USER"
      for: Docker
  export LC_ALL=C.UTF-8
      for: terminal

# a store that cannot be made
$ assay doctor --store /proc/nowhere | grep -A 1 '^    store'
    store              yes     keeping runs
                               /proc/nowhere: not there yet, the first run makes

# root of a container on an old kernel
fixture doctor-container
$ assay doctor
assay 0.1.0, 1 CPU, root of a container

the ladder: the highest rung that is there is used
  1 own control group  partly  exact totals of a job, to the last child
                               CPU and memory are counted there; the rest comes
                               from /proc
  1 BPF                no      every exit seen, many processes read cheaply
                               in a container: the machine's root would have to
                               allow it
  2 exit records       no      what each process used, told at its end
                               needs CAP_NET_ADMIN of the machine, not of a
                               container
  3 perf events        yes     CPU time of children that nobody waits for
                               a clock for this user's jobs
                               (kernel.perf_event_paranoid=2)
  4 /proc              yes     the processes of a job, one by one
                               all processes

beside it
    kernel             partly  starting and following a job
                               Linux 4.19.0-26-amd64; attach needs 5.3 or later
    pressure (PSI)     no      time lost waiting for CPU, memory or disks
                               /proc/pressure is missing or empty
    wait for a CPU     no      time that ready threads had to wait
                               there is no /proc/PID/schedstat
    delay accounting   no      time lost to swapping and disks *
                               there is no kernel.task_delayacct (Linux before
                               5.14?)
    ptrace             yes     stacks and memory of running processes
                               all processes (no Yama)
    open files         yes     following many processes at once
                               at most 1048576 at once
    clocks             partly  runs told apart across boots
                               in a time namespace: time since boot is shifted
    Docker             no      containers by their names
                               there is no /run/docker.sock
    store              yes     keeping runs
                               TMP/store: not there yet, the
                               first run makes it
    live runs          yes     runs cut short by a crash are kept
                               0 going on, 0 left behind
    terminal           yes     plots, and a line while a job runs
                               80 columns, UTF-8, no colours

  * what the machine would allow; this version does not use it yet

to have what is missing
  use Linux 5.3 or later
      for: kernel
  boot the kernel with psi=1
      for: pressure (PSI)
  use a kernel built with CONFIG_SCHED_INFO=y
      for: wait for a CPU
