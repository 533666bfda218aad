"""tengen-katago takes the arguments that front ends give to KataGo's program."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tengen.cli import katago
from tengen.rules import Rules


def test_gtp_arguments_of_katago_become_ours(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    config = tmp_path / "gtp.cfg"
    text = "maxVisits = 500\nrules = japanese\nponderingEnabled = true\nnumSearchThreads = 6\noddity = 1\n"
    config.write_text(text + "resignThreshold = -0.9\nreportAnalysisWinratesAs = BLACK\n")
    given = f"-model net.bin.gz -config {config} -override-config maxTime=2,allowResignation=false --threads 2"
    options = " ".join(katago.gtp_arguments(given.split()))
    assert options.startswith("--net net.bin.gz ")
    settings = "maxVisits=500 resignThreshold=-0.9 reportAnalysisWinratesAs=BLACK maxTime=2 allowResignation=false"
    assert "".join(f" --set {setting}" for setting in settings.split()) in options
    assert options.endswith(" --ponder --rules japanese --threads 2") and "oddity" not in options
    assert capsys.readouterr().err == (
        "warning: settings without a meaning are ignored: oddity\nwithout effect in Tengen: numSearchThreads\n"
    )


@pytest.mark.parametrize(
    ("command", "without", "used"),
    [
        (
            "gtp",
            "humanSLChosenMoveProp delayMoveScale warnUnusedFields",
            "lagBuffer maxVisits rules humanSLProfile komi",
        ),
        (
            "analysis",
            "humanSLChosenMoveProp delayMoveScale koRule",
            "maxVisits reportAnalysisWinratesAs humanSLProfile",
        ),
    ],
)
def test_settings_without_effect_are_named(command: str, without: str, used: str, tmp_path: Path) -> None:
    values = {"rules": "japanese", "reportAnalysisWinratesAs": "BLACK", "humanSLProfile": "rank_5k", "koRule": "SIMPLE"}
    names = [*without.split(), *used.split()]
    config = tmp_path / "some.cfg"
    given = {name: values.get(name, "false" if name == "warnUnusedFields" else "1") for name in names}
    config.write_text("".join(f"{name} = {value}\n" for name, value in given.items()))
    done = subprocess.run(
        [sys.executable, "-m", "tengen.cli.katago", command, "-model", "uniform", "-config", str(config)],
        input="",
        capture_output=True,
        text=True,
        timeout=120,
        cwd=Path(__file__).parent.parent.parent / "src",
    )
    assert done.returncode == 0
    (line,) = (line for line in done.stderr.splitlines() if line.startswith("without effect in Tengen: "))
    assert set(line.partition(": ")[2].split(", ")) == set(without.split())


def test_single_rules_and_a_forced_komi_are_options(tmp_path: Path) -> None:
    config = tmp_path / "gtp.cfg"
    config.write_text("koRule = SITUATIONAL\nscoringRule = AREA\nmultiStoneSuicideLegal = false\nhasButton = true\n")
    given = ["-config", str(config), "-override-config", "whiteHandicapBonus=N-1,ignoreGTPAndForceKomi=6"]
    options = katago.gtp_arguments(given)
    rules = Rules.parse(options[options.index("--rules") + 1])
    assert rules == Rules(ko="situational", scoring="area", suicide=False, button=True, bonus="n-1")
    assert options[options.index("--komi") + 1 :][:2] == ["6.0", "--force-komi"]
    options = katago.gtp_arguments([*given[:3], "rules=japanese"])
    assert options.count("--rules") == 1 and options[options.index("--rules") + 1] == "japanese"


def test_the_program_answers_gtp_and_says_its_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert katago.main(["version"]) == 0 and "KataGo v1.17.2" in capsys.readouterr().out
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "tengen.cli.katago",
            "gtp",
            "-override-config",
            "maxVisits=5,komi=0.5,resignThreshold=-0.8,koRule=SITUATIONAL,scoringRule=TERRITORY",
        ],
        input="get_komi\nkata-get-rules\nkata-get-param maxVisits\nkata-get-param resignThreshold\nname\nversion\n",
        capture_output=True,
        text=True,
        timeout=120,
        cwd=Path(__file__).parent.parent.parent / "src",
    )
    komi, rules, *others = done.stdout.split("\n\n")
    assert (komi, others[:3]) == ("= 0.5", ["= 5", "= -0.8", "= KataGo"]), done.stderr
    assert others[3].startswith("= 1.17.2+tengen-")
    assert re.search(r"^Tengen .* KataGo v1\.17\.2\nGTP ready$", done.stderr, re.M), "gtp2ogs looks for KataGo"
    assert '"ko": "SITUATIONAL", "scoring": "TERRITORY"' in rules


def test_the_version_is_what_a_front_end_asks_for() -> None:
    options = katago.gtp_arguments(["-override-version", "0.17", "-model", "x.bin.gz"])
    assert options[options.index("--answer-version") + 1] == "0.17"
    assert "--answer-version" not in katago.gtp_arguments(["-model", "x.bin.gz"])


def test_the_human_style_network_is_that_of_a_front_end() -> None:
    options = katago.gtp_arguments(["-human-model", "human.bin.gz", "-model", "x.bin.gz"])
    assert options[options.index("--human-net") + 1] == "human.bin.gz"
    assert options[options.index("--net") + 1] == "x.bin.gz"
    assert "--human-net" not in katago.gtp_arguments(["-model", "x.bin.gz"])


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["benchmark", "-model", "x"], "tengen bench"),
        (["gtp", "-modle", "x"], "unknown option -modle; see tengen-katago gtp -h"),
        (["analysys"], "did you mean analysis"),
        (["gtp", "-override-config", "maxVisits=0"], "maxVisits"),
        (["gtp", "-override-config", "rules=aga,koRule=SIMPLE"], "koRule"),
        (["gtp", "-override-config", "koRule=SPIGHT"], "spight"),
        (["gtp", "-config", "nowhere.cfg"], "nowhere.cfg"),
        (["analysis", "-model", "nowhere.bin.gz"], "nowhere.bin.gz"),
        (["analysis", "-analysis-threads", "0"], "analysis-threads"),
    ],
)
def test_what_cannot_be_is_one_line(arguments: list[str], reason: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert katago.main(arguments) == 2
    error = capsys.readouterr().err
    assert error.startswith("error: ") and error.count("\n") == 1 and reason in error
