"""The examples of a cluster: the file for a cloud is what Ray takes, and the Slurm job runs on this machine."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
import yaml
from offspring import Offspring

from tengen.data.store import Store

ray = pytest.importorskip("ray", reason="the extra [cluster] is not installed")

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples"
PROGRAMS = Path(sys.executable).parent  # of this environment, which need not be active
GUIDE = (ROOT / "docs" / "guides" / "cluster.md").read_text(encoding="utf-8")
RECIPE = """
kind: selfplay
cycles: 1
games_per_cycle: 16
games_at_once: 8
workers: 1
network: {family: residual, size: b1c8}
game: {sizes: {5: 1}}
search: {visits: 4}
learn: {batch_size: 8, threads: 1}
rating: {games: 2, anchors: [random]}
"""

# The commands of Slurm, on this machine; srun's options are one word each.
SLURM = {
    "scontrol": 'if [ "$1" = show ]; then echo 127.0.0.1; else echo "$@" >> requeued; fi',
    "srun": 'while [ "${1#--}" != "$1" ]; do shift; done; exec "$@"',
}


def test_the_cloud_file_is_what_ray_takes() -> None:
    schema = pytest.importorskip("jsonschema", reason="ray up needs ray[default]")
    from ray.autoscaler._private.util import prepare_config, validate_config

    text = (EXAMPLES / "cluster-aws.yaml").read_text(encoding="utf-8")
    config: dict[str, Any] = yaml.safe_load(text)
    validate_config(prepare_config(dict(config)))
    with pytest.raises(schema.ValidationError):
        validate_config(prepare_config({**config, "workers": 3}))
    assert set(config["available_node_types"]) >= {config["head_node_type"]}
    assert all(node["node_config"] for node in config["available_node_types"].values())


def test_the_guide_names_options_that_exist() -> None:
    commands = re.findall(r"^(ray start .*|tengen .*)$", GUIDE, re.MULTILINE)
    used = {(words[0], option) for words in map(str.split, commands) for option in re.findall(r"--[\w-]+", str(words))}
    for program in ("ray", "tengen"):
        assert any(name == program for name, _ in used)
    words = [PROGRAMS / "ray", "start", "--help"]
    helped = subprocess.run(words, capture_output=True, text=True, check=True, timeout=120).stdout
    script = (EXAMPLES / "cluster.sbatch").read_text(encoding="utf-8") + (EXAMPLES / "cluster-aws.yaml").read_text()
    lines = script.replace("\\\n", " ").splitlines()
    used |= {
        ("ray", option)
        for line in lines
        if (start := line.find("ray start")) >= 0 and not line.lstrip().startswith("srun")
        for option in re.findall(r"--[\w-]+", line[start:])
    }
    assert {option for name, option in used if name == "ray"} <= set(re.findall(r"--[\w-]+", helped))


def test_every_machine_of_the_slurm_job_gets_all_cores_of_the_job(tmp_path: Path) -> None:
    """Slurm's srun does not take over --cpus-per-task of sbatch since 22.05, but reads SRUN_CPUS_PER_TASK."""
    (tmp_path / "scontrol").write_text("#!/bin/bash\necho one; echo two\n")
    (tmp_path / "ray").write_text("#!/bin/bash\n")
    (tmp_path / "srun").write_text(f'#!/bin/bash\necho "${{SRUN_CPUS_PER_TASK:-1}}" >> {tmp_path}/cores\nexit 1\n')
    for name in ("scontrol", "ray", "srun"):
        (tmp_path / name).chmod(0o755)
    environment = {
        "PATH": f"{tmp_path}:{os.environ['PATH']}",
        "SLURM_JOB_ID": "1",
        "SLURM_JOB_NODELIST": "one,two",
        "SLURM_JOB_NUM_NODES": "2",
        "SLURM_CPUS_PER_TASK": "32",
    }
    words = ["bash", EXAMPLES / "cluster.sbatch", "micro.yaml", "run"]
    job = subprocess.run(words, cwd=tmp_path, env=environment, capture_output=True, timeout=60, check=False)
    assert job.returncode == 1, "Ray has not started"
    assert (tmp_path / "cores").read_text() == "32\n"


@pytest.mark.timeout(600)
@pytest.mark.skipif("TENGEN_SLURM_TEST" not in os.environ, reason="a minute; set TENGEN_SLURM_TEST=1 to run the job")
def test_the_slurm_job_runs_here_and_leaves_nothing(tmp_path: Path, offspring: Offspring) -> None:
    for name, text in SLURM.items():
        (tmp_path / name).write_text(f"#!/bin/bash\n{text}\n")
        (tmp_path / name).chmod(0o755)
    (tmp_path / "micro.yaml").write_text(RECIPE)
    environment = {
        **os.environ,
        "PATH": f"{tmp_path}:{PROGRAMS}:{os.environ['PATH']}",
        "SLURM_JOB_ID": str(os.getpid()),
        "SLURM_JOB_NODELIST": "here",
        "SLURM_JOB_NUM_NODES": "2",
        "SLURM_CPUS_PER_TASK": "2",
    }

    def start() -> subprocess.Popen[str]:
        words = ["bash", EXAMPLES / "cluster.sbatch", "micro.yaml", "run", "--set", "cluster.cpus=0.5"]
        return subprocess.Popen(words, cwd=tmp_path, env=environment, text=True, stderr=subprocess.PIPE)

    job = start()
    while job.poll() is None and not (tmp_path / "run" / "recipe.yaml").exists():
        time.sleep(0.2)
    log = tmp_path / f"ray-{os.getpid()}.log"
    if job.poll() is not None and "timed out during startup" in log.read_text():
        pytest.skip("Ray does not start within its 30 seconds on this machine as it is")
    job.send_signal(signal.SIGTERM)  # as Slurm does before the end of the job's time
    _, errors = job.communicate(timeout=300)
    assert job.returncode == 143, errors
    assert (tmp_path / "requeued").read_text() == f"requeue {os.getpid()}\n"
    assert offspring.gone(60)
    job = start()
    _, errors = job.communicate(timeout=300)
    assert job.returncode == 0, errors + log.read_text()
    assert len(Store.open(tmp_path / "run" / "games")) == 16
    assert (tmp_path / "run" / "nets" / "micro.onnx").exists()
    assert offspring.gone(60)
