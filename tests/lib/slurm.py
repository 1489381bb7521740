"""slurm -- a real Slurm of one node on this machine, for a test.

    with cluster(tmp()) as slurm:
        slurm.run("srun", "-n1", "--mem=50", …)     # the harness's run(), for this cluster

munged, slurmctld and slurmd are processes of the test's own, on loopback; jobs are in
control groups of Slurm's. Needs root; skips where Slurm is not installed.
"""
import contextlib
import os
import pathlib
import pwd
import shutil
import socket
import subprocess

from harness import run, skip, start, stop, wait_for

__all__ = ["cluster"]

GROUPS = pathlib.Path("/sys/fs/cgroup")
NODE = "assayn1"
CONTROL_PORT, NODE_PORT = 16817, 16821
PROGRAMS = ("munged", "slurmctld", "slurmd", "srun", "sbatch")

CONF = """
ClusterName=t
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={control}
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={dir}/munge/socket
CredType=cred/munge
StateSaveLocation={dir}/state
SlurmdSpoolDir={dir}/spool
TmpFS={dir}/tmp
SlurmctldPidFile={dir}/slurmctld.pid
SlurmdPidFile={dir}/slurmd.pid
SlurmctldLogFile={dir}/slurmctld.log
SlurmdLogFile={dir}/slurmd.log
ProctrackType=proctrack/cgroup
TaskPlugin=task/cgroup,task/affinity
JobAcctGatherType=jobacct_gather/cgroup
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU_Memory
MpiDefault=none
ReturnToService=2
SwitchType=switch/none
NodeName={node} NodeAddr=127.0.0.1 NodeHostname={host} Port={port} CPUs={cpus} RealMemory=2000
PartitionName=p Nodes={node} Default=YES MaxTime=10 State=UP
"""
CGROUP_CONF = """
CgroupPlugin=cgroup/v1
CgroupMountpoint=/sys/fs/cgroup
CgroupAutomount=no
ConstrainCores=yes
ConstrainRAMSpace=yes
"""


class Slurm:
    def __init__(self, folder):
        self.env = {"SLURM_CONF": str(folder / "slurm.conf")}

    def run(self, *command, **how):
        return run(*command, env=self.env, **how)

    def idle(self):
        return self.run("sinfo", "-h", "-t", "idle", "-o", "%D").out.strip() == "1"


def private(folder, user, mode):
    """A folder that munged takes to be safe."""
    folder.mkdir()
    os.chown(folder, user.pw_uid, user.pw_gid)
    folder.chmod(mode)
    return folder


def start_munged(folder):
    user = pwd.getpwnam("munge")
    at, keys = private(folder / "munge", user, 0o755), private(folder / "keys", user, 0o700)
    key = keys / "key"
    key.write_bytes(os.urandom(1024))
    os.chown(key, user.pw_uid, user.pw_gid)
    key.chmod(0o400)
    # --force: the folder lies below one that everybody may write to.
    munged = start("setpriv", "--reuid", "munge", "--regid", "munge", "--clear-groups", "munged",
                   "--foreground", "--force", "--key-file", key, "--socket", at / "socket",
                   "--pid-file", at / "pid", "--log-file", at / "log", "--seed-file", keys / "seed",
                   "--num-threads", 2, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    wait_for((at / "socket").exists, 20, "munged")
    return munged


def configure(folder):
    for name in ("state", "spool", "tmp"):
        (folder / name).mkdir()
    (folder / "slurm.conf").write_text(CONF.format(
        host=socket.gethostname(), control=CONTROL_PORT, port=NODE_PORT, node=NODE, dir=folder,
        cpus=os.cpu_count()))
    (folder / "cgroup.conf").write_text(CGROUP_CONF)


def remove_groups():
    """Slurm leaves the groups of its node."""
    for top in GROUPS.glob(f"*/slurm_{NODE}"):
        for group in sorted((g for g in top.rglob("*") if g.is_dir()), reverse=True):
            group.rmdir()
        top.rmdir()


@contextlib.contextmanager
def cluster(folder):
    missing = [p for p in PROGRAMS if not shutil.which(p)]
    if missing:
        skip(f"{', '.join(missing)}: not installed (make test-real installs Slurm)")
    if os.geteuid() or not (GROUPS / "memory").is_dir():
        skip("Slurm needs root, and here memory as a control group of v1")
    folder.chmod(0o711)     # munged is another user's
    folder = folder / "slurm"
    folder.mkdir(mode=0o755)
    configure(folder)
    slurm, quiet = Slurm(folder), {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    started = [start_munged(folder)]
    try:
        started.append(start("slurmctld", "-D", env=slurm.env, **quiet))
        started.append(start("unshare", "-u", "sh", "-c",
                             f"hostname {NODE}; exec slurmd -D -N {NODE}", env=slurm.env, **quiet))
        wait_for(slurm.idle, 60, "an idle node")
        yield slurm
    finally:
        for process in reversed(started):       # slurmctld would wait for munged
            stop(process)
        remove_groups()
