"""The review of a game: losses against searches made one by one, and what is written."""

import errno
import json
import re
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tengen.cli.app import main
from tengen.engine import Limits, SearchParams, SearchQueue
from tengen.evaluators import load_evaluator
from tengen.game import Game
from tengen.review.annotate import annotate
from tengen.review.game import PHASES, GameReview, ReviewedMove, Summary, positions_of, review
from tengen.review.report import as_dict, write_review
from tengen.sgf import GameTree, read_tree, write_tree
from tengen.sgf.tree import Analysis

# Black's third move and White's last one are on the first line.
RECORD = (
    b"(;GM[1]SZ[7]KM[9]RU[chinese]PB[Ann]PW[Bo]RE[B+3]XX[kept\\]]C[A game];B[dd];W[de];B[ga];W[ee]C[hm]"
    b"(;B[cd];W[ag]BM[2];B[ed])(;B[ce]))"
)
VISITS = 20


@pytest.fixture(scope="module")
def queue() -> Iterator[SearchQueue]:
    with SearchQueue(load_evaluator("zero-7x7"), batch=4, at_once=3) as queue:
        yield queue


def reviewed(tree: GameTree, queue: SearchQueue, visits: int) -> GameReview:
    found = review(tree, positions_of(tree), queue, visits)
    assert found is not None
    return found


@pytest.fixture
def found(queue: SearchQueue) -> GameReview:
    return reviewed(read_tree(RECORD), queue, VISITS)


def test_losses_are_differences_of_searches(found: GameReview, queue: SearchQueue) -> None:
    """Each position alone, for the side to move; its sign changes with every move."""
    moves = [(0, "dd"), (1, "de"), (0, "ga"), (1, "ee"), (0, "cd"), (1, "ag"), (0, "ed")]
    game = Game(7, "chinese", 9)
    results = []
    for color, place in [*moves, (0, "")]:
        results.append(queue.start(game, Limits(visits=VISITS)).wait())
        if place:
            game.play((ord(place[1]) - 97) * 7 + ord(place[0]) - 97, color=color)
    assert [move.point for move in found.moves] == [point for _, point in game.moves]
    for move, before, after in zip(found.moves, results, results[1:], strict=False):
        assert before.score is not None and after.score is not None
        assert move.loss == pytest.approx(before.score + after.score, abs=1e-5)
        assert move.winrate_loss == pytest.approx(before.winrate + after.winrate - 1, abs=1e-6)
        tried = [candidate.point for candidate in before.candidates if candidate.visits]
        same = mirrored(found.tree.position(move.node.path[-2]), move.point)
        assert move.rank == next((place for place, point in enumerate(tried, 1) if point in same), None)
        assert move.best is not None and move.best.point == before.candidates[0].point
    worst = [max(found.of(color), key=lambda move: move.cost).number for color in (0, 1)]
    assert worst == [3, 6] == [found.mistakes(color, 1)[0].number for color in (0, 1)]


def mirrored(game: Game, point: int) -> set[int]:
    """The points that the symmetries of the board turn a point into."""
    marked = np.zeros(game.size**2, int)
    marked[point] = 1
    images = set()
    for turns, flip in product(range(4), (False, True)):
        board, mark = (np.rot90(one, turns) for one in (game.board, marked.reshape(game.board.shape)))
        board, mark = (board.T, mark.T) if flip else (board, mark)
        if np.array_equal(board, game.board):
            images.add(int(mark.argmax()))
    return images


@pytest.mark.parametrize("merged", [True, False])
@pytest.mark.parametrize(("stones", "count"), [([], 8), ([24], 8), ([25], 2), ([16], 2), ([15], 1)])
def test_mirror_images_of_the_best_move_are_the_best_move(stones: list[int], count: int, merged: bool) -> None:
    game = Game(7, "chinese", 9)
    for stone in stones:
        game.play(stone)
    with SearchQueue(load_evaluator("zero-7x7"), SearchParams(merge_symmetric=merged), batch=4) as queue:
        best = queue.start(game, Limits(visits=40)).wait().candidates[0].point
        assert len(mirrored(game, best)) in {count, count // 2, 1}, "on an axis or not"
        for point in mirrored(game, best):
            tree = GameTree.of_game(game.copy().play(point))
            move = reviewed(tree, queue, 40).moves[-1]
            assert move.is_best and move.point == point and move.best is not None and move.best.point == best


def test_the_record_keeps_what_it_had(found: GameReview) -> None:
    annotate(found)
    text = write_tree(found.tree)
    again = read_tree(text)
    line = again.line(again.root)
    assert b"XX[kept\\]]" in text and b"BM[2]" in text and b";B[ce]" in text
    assert line[0].comment.startswith("A game\n\nBlack ") and line[4].comment.startswith("hm\n\nBlack ")
    assert [node.move for node in line] == [node.move for node in found.nodes]
    assert line[3].text("BM") == "1" and "Better: " in line[3].comment
    move = found.moves[2]
    assert move.best is not None
    [better] = [child for child in line[2].children if child.point == move.best.point]
    assert [node.point for node in [better, *again.line(better)[4:]]][: len(move.best.pv)] == list(move.best.pv)
    lead = line[5].analysis or found.nodes[5].analysis
    assert lead is not None and lead.score_lead is not None and line[5].text("V") == f"{lead.score_lead:.1f}"


@pytest.mark.parametrize(("loss", "marks"), [(1.4, []), (1.5, [b"DO[]"]), (2.9, [b"DO[]"]), (3.0, [b"BM[1]"])])
def test_a_mistake_is_marked_by_its_grade(loss: float, marks: list[bytes]) -> None:
    tree = read_tree(b"(;SZ[7];B[dd];W[de])")
    node = tree.root.children[0]
    move = ReviewedMove(node, 1, 0, 24, "opening", loss, 0.0, None, None)
    annotate(GameReview(tree, "made", 1, (), (move,)))
    assert re.findall(rb"(?:DO|BM)\[.*?\]", write_tree(tree)) == marks
    annotate(GameReview(tree, "made", 1, (), (move,)))
    assert len(re.findall(rb"DO|BM", write_tree(tree))) == len(marks), "a record keeps its mark"


@pytest.mark.parametrize(
    ("winrate_loss", "grade"), [(-0.1, 0), (0.019, 0), (0.02, 1), (0.05, 2), (0.099, 2), (0.1, 3), (0.2, 4), (0.4, 5)]
)
def test_a_move_without_a_score_is_judged_by_its_winrate(winrate_loss: float, grade: int) -> None:
    tree = read_tree(b"(;SZ[7];B[dd]V[9];W[de])")
    nodes = tree.line(tree.root)
    for node in nodes[:2]:
        node.analysis = Analysis(winrate=0.5, score_lead=None, visits=1)
    nodes[2].analysis = Analysis(winrate=0.25, score_lead=-2.5, visits=1)
    move = ReviewedMove(nodes[1], 1, 0, 24, "opening", None, winrate_loss, 2, None)
    assert (move.grade, move.cost) == (grade, pytest.approx(max(0, 100 * winrate_loss)))
    summary = Summary.of([move, move])
    assert summary is not None and summary.loss_text == f"{max(0, winrate_loss):.1%} of winrate"
    best = ReviewedMove(nodes[2], 2, 1, 31, "opening", 3.5, 0.5, 1, None)
    annotate(GameReview(tree, "made", 1, tuple(nodes), (move, best)), "x")
    lost = f"Lost {100 * winrate_loss:.1f}% of winrate." if grade else "Lost little or nothing."
    assert [node.comment for node in nodes] == [
        "Black 50.0%",
        f"Black 50.0%\n{lost}",
        "Black 25.0%, White +2.5\nThe engine's choice.",
    ]
    assert [node.text("V") for node in nodes] == ["", "9", "-2.5"], "a value of the record stays"
    assert not {"BM", "DO"} & set(nodes[2].properties), "what the engine would play is no mistake"
    assert tree.root.text("REVIEWED") == "Tengen x"


def test_figures_of_the_players(found: GameReview) -> None:
    figures = as_dict(found)
    for letter, color in (("B", 0), ("W", 1)):
        own = [move for move in figures["moves"] if move["color"] == letter]
        summary = figures["players"][letter]["all"]
        assert summary["moves"] == len(own) == len(found.of(color))
        assert summary["mean_loss"] == pytest.approx(sum(max(0, move["loss"]) for move in own) / len(own))
        assert summary["best"] == sum(move["rank"] == 1 for move in own) / len(own)
        assert figures["players"][letter]["mistakes"][0] == (3, 6)[color]
    assert Summary.of([]) is None
    assert [phase for phase in PHASES for move in found.moves if move.phase == phase] == (
        ["opening"] * 6 + ["middle game"]  # 50 of 361 points are 6.8 of 49
    )


def test_a_finished_game_ends_with_its_last_search(queue: SearchQueue) -> None:
    found = reviewed(read_tree(b"(;SZ[7]KM[9];B[dd];W[];B[])"), queue, 4)
    assert len(found.nodes) == 3 and found.moves[-1].loss == 0


def test_the_command_writes_three_files_and_goes_on(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    games = tmp_path / "games"
    games.mkdir()
    (games / "one.sgf").write_bytes(RECORD + RECORD)
    (games / "two.sgf").write_bytes(b"(;SZ[7]HA[5];W[dd])")
    command = ["review", str(games), "--visits", "4", "--net", "zero-7x7", "--out", str(tmp_path / "out"), "--quiet"]
    assert main(command) == 2
    told = capsys.readouterr()
    assert "two: " in told.err and "1 of 3 games could not be reviewed" in told.err
    names = {f"{name}-review.{form}" for name in ("one", "one-2") for form in ("sgf", "html", "json")}
    assert {path.name for path in (tmp_path / "out").iterdir()} == names
    page = (tmp_path / "out" / "one-review.html").read_text()
    assert "Ann" in page and not any(word in page for word in ("<script", " src=", ' href="http', "@import"))
    assert json.loads((tmp_path / "out" / "one-review.json").read_text())["moves"][2]["number"] == 3
    stamp = (tmp_path / "out" / "one-review.sgf").stat().st_mtime_ns
    assert main(command[:-1]) == 2 and "one: reviewed already" in capsys.readouterr().out
    assert (tmp_path / "out" / "one-review.sgf").stat().st_mtime_ns == stamp
    assert main([*command, "--format", "pdf"]) == 2 and "unknown format 'pdf'" in capsys.readouterr().err


def test_a_full_disk_ends_the_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def no_space(path: Path) -> None:
        raise OSError(errno.EDQUOT, "Disk quota exceeded", str(path))

    monkeypatch.setattr("tengen.cli.review.write_whole", no_space)
    (tmp_path / "two.sgf").write_bytes(RECORD + RECORD)
    command = [
        "review",
        str(tmp_path / "two.sgf"),
        "--visits",
        "2",
        "--net",
        "zero-7x7",
        "--out",
        str(tmp_path / "out"),
    ]
    assert main(command) == 2
    assert capsys.readouterr().err.count("the disk is full") == 1


def test_names_of_players_are_no_markup(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.sgf").write_bytes(b"(;SZ[7]PB[a [/b\\] c]PW[[i\\]];B[dd];W[cc])")
    command = ["review", str(tmp_path / "a.sgf"), "--visits", "2", "--net", "zero-7x7", "--out", str(tmp_path / "out")]
    assert main(command) == 0
    told = capsys.readouterr().out
    assert "a [/b] c" in told and "[i]" in told


def test_every_game_has_a_review_of_its_own(tmp_path: Path) -> None:
    """Also where the name that is made for one game is that of another; the names do not depend on what is there."""
    for place, games in {"x/a": 1, "y/a": 2, "z/a-2": 1, "z/a-2-2": 1}.items():
        path = tmp_path / f"{place}.sgf"
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(b"".join(b"(;SZ[7]PB[%s %d];B[dd])" % (place.encode(), number) for number in range(games)))
    paths = [str(tmp_path / folder) for folder in "xyz"]
    command = ["review", *paths, "--visits", "2", "--net", "zero-7x7", "--out", str(tmp_path / "out"), "--quiet"]
    for _ in range(2):
        assert main([*command, "--format", "json"]) == 0
        found = [json.loads(path.read_text())["black"] for path in (tmp_path / "out").iterdir()]
        assert sorted(found) == ["x/a 0", "y/a 0", "y/a 1", "z/a-2 0", "z/a-2-2 0"]


def test_a_hash_in_the_name_of_a_file_or_folder_is_no_number_of_a_game(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "x#"
    folder.mkdir()
    (folder / "a#7.sgf").write_bytes(b"(;SZ[7];B[dd])(;SZ[7];B[ee])")
    (folder / "b#7.sgf").write_bytes(b"no game")
    command = ["review", str(tmp_path), "--visits", "2", "--net", "zero-7x7", "--out", str(tmp_path / "out"), "--quiet"]
    assert main([*command, "--format", "json"]) == 2
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["a-7-2-review.json", "a-7-review.json"]
    assert "b-7: no game tree" in capsys.readouterr().err


@pytest.mark.parametrize("form", ["json", "html", "sgf"])
def test_a_review_is_left_out_only_where_record_and_settings_are_the_same(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], form: str
) -> None:
    record, out = tmp_path / "a.sgf", tmp_path / "out"
    command = ["review", str(record), "--net", "zero-7x7", "--out", str(out), "--quiet", "--format", form]
    names = []
    for player, visits in (("Ann", 2), ("Bo", 2), ("Bo", 3), ("Bo", 2), ("Ann", 2)):
        record.write_text(f"(;SZ[7]PB[{player}];B[dd])")
        assert main([*command, "--visits", str(visits)]) == 0
        names.append(capsys.readouterr().out.replace(f"{out}/", "").strip())
    made = [f"{name}: {name}-review.{form}" for name in ("a", "a-2", "a-3")]
    assert names == [*made, "a-2: reviewed already", "a: reviewed already"]
    assert all(player in (out / f"{name}-review.{form}").read_text() for name, player in (("a", "Ann"), ("a-2", "Bo")))
    # Another format of one of them, and all of them for a new game, which has the name of none.
    assert main([*command[:-1], "json,html,sgf", "--visits", "2"]) == 0
    assert capsys.readouterr().out.count("a-review.") == 3
    record.write_text("(;SZ[7]PB[Cyd];B[dd])")
    assert main([*command[:-1], "json,html,sgf", "--visits", "2"]) == 0
    assert capsys.readouterr().out.count("a-4-review.") == 3


def test_reviews_in_a_folder_are_no_games(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Each run reviewed the reviews of the last one, where they lie in the same folder."""
    (tmp_path / "a.sgf").write_bytes(b"(;SZ[7];B[dd])")
    out = tmp_path / "reviews"
    command = ["--net", "zero-7x7", "--visits", "2", "--out", str(out), "--quiet"]
    for _ in range(2):
        assert main(["review", str(tmp_path), *command]) == 0
    assert len(list(out.iterdir())) == 3
    assert main(["review", str(out / "a-review.sgf"), *command]) == 0, "it is named"
    assert len(list(out.iterdir())) == 6


def test_a_game_whose_review_cannot_be_written_does_not_end_the_others(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    long = "\u56f2" * 80  # 240 bytes
    for name in ("a", long, "z"):
        (tmp_path / f"{name}.sgf").write_bytes(b"(;SZ[7]PB[%s];B[dd])" % name.encode()[:1])
    (tmp_path / "out" / "a-review.json").mkdir(parents=True)
    command = ["review", str(tmp_path), "--net", "zero-7x7", "--out", str(tmp_path / "out"), "--visits", "2"]
    assert main([*command, "--quiet", "--format", "json", "--force"]) == 2
    told = capsys.readouterr()
    assert "a: " in told.err and "1 of 3 games could not be reviewed" in told.err
    assert (tmp_path / "out" / f"{long[:66]}-review.json").exists() and "z: " in told.out


@pytest.mark.parametrize(
    ("text", "problem", "moves"),
    [
        (b";B[cc];W[dd];B[zz];W[ee]", "a point off the board", 2),
        (b";B[cc];W[dd];B[dd];W[ee]", "occupied", 2),
        (b";B[cc];AW[ee];W[dd]", "stones are set up after move 1", 2),
        (b";B[cc];W[dd];B[ee]C[x", "the text breaks off", 3),
        (b"RU[Lasker-Maas];B[cc];W[dd]", "Lasker-Maas", 2),
        (b"HA[4];W[dd];B[dc]", "", 2),
        (b"HA[5];W[cc];B[dd]", "handicap stones not given: HA[5]", None),
    ],
)
def test_problems_of_a_record_are_said_and_a_game_of_unknown_handicap_is_refused(
    text: bytes, problem: str, moves: int | None, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    komi = b"" if b"RU" in text else b"KM[0.5]"  # of unknown rules no usual komi is known either
    (tmp_path / "a.sgf").write_bytes(b"(;SZ[7]" + komi + text + (b"" if b"C[x" in text else b")"))
    command = ["review", str(tmp_path / "a.sgf"), "--visits", "2", "--net", "zero-7x7", "--quiet"]
    assert main([*command, "--out", str(tmp_path)]) == (2 if moves is None else 0)
    assert problem in capsys.readouterr().err
    if moves is None:
        assert not (tmp_path / "a-review.json").exists()
        return
    found = json.loads((tmp_path / "a-review.json").read_text())
    assert len(found["moves"]) == moves and len(found["problems"]) == bool(problem)
    assert all(problem in one for one in found["problems"])
    assert problem in (tmp_path / "a-review.html").read_text()


def test_a_score_may_be_unknown(found: GameReview) -> None:
    move = found.moves[2]
    plain = ReviewedMove(move.node, 3, 0, move.point, "opening", None, 0.081, None, move.best)
    assert plain.cost == pytest.approx(8.1)
    summary = Summary.of([plain])
    assert summary is not None and summary.loss_text == "8.1% of winrate"
    assert (plain.grade, summary.good, summary.bad) == (2, 0, 0)  # from 5% on, below 10%


def test_the_positions_of_a_line_are_those_of_its_nodes_with_each_move_played_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    tree = read_tree(b"(;SZ[9]RU[japanese];B[ab];W[aa];B[ba];AW[cc]PL[W];W[dd];B[];W[])")
    alone = [tree.position(node) for node in tree.line(tree.root)]
    assert alone.pop().is_over
    played, play = [], Game.play

    def counted(game: Game, *move: Any, **more: Any) -> Game:
        played.append(move)
        return play(game, *move, **more)

    monkeypatch.setattr(Game, "play", counted)
    found = positions_of(tree)
    assert [node for node, _ in found] == tree.line(tree.root)[:-1] and len(played) == 6
    assert [(str(game), game.moves) for _, game in found] == [(str(game), game.moves) for game in alone]


@pytest.mark.parametrize(
    ("text", "first"),
    [
        (b"HA[2];AB[cc][ee];W[dd];B[ed]", 1),  # as the Fox server writes a handicap
        (b"AB[cc];C[x];AB[ee]PL[W];C[y];W[dd]", 2),
        (b"AB[cc][ee];W[dd];AB[ff];B[ed]", 0),
        (b";AB[cc][ee]W[dd];B[ed]", 0),
        (b"AB[cc];AB[dd];AB[ee]", 0),
    ],
)
def test_a_game_begins_with_its_last_stones_before_the_first_move(text: bytes, first: int, queue: SearchQueue) -> None:
    """An empty board before the stones of a handicap is no position of the game; diagrams without moves are all."""
    tree = read_tree(b"(;SZ[7]KM[0.5]RU[chinese]" + text + b")")
    line = tree.line(tree.root)
    found = reviewed(tree, queue, 2)
    assert list(found.nodes) == line[first:]
    assert [move.node for move in found.moves] == [node for node in line if node.move]
    annotate(found)
    assert [bool(node.properties.get("V")) for node in line] == [place >= first for place in range(len(line))]


def test_a_game_that_goes_on_after_two_passes_is_reviewed_as_a_whole(queue: SearchQueue) -> None:
    tree = read_tree(b"(;GM[1]FF[4]SZ[7]KM[7]RU[Chinese];B[ee];W[];B[];W[cc];B[dd];W[dc];B[cd])")
    found = reviewed(tree, queue, 4)
    assert [move.number for move in found.moves] == [1, 2, 3, 4, 5, 6, 7] and len(found.nodes) == 8
    third = positions_of(tree)[3][1]
    assert (third.is_over, third.to_play, len(third.moves)) == (False, 1, 1)
    three = read_tree(b"(;SZ[7]KM[7];B[ee];W[];B[];W[])")  # as servers write the end of a count
    assert len(positions_of(three)) == 3


def test_a_player_whose_name_begins_with_an_underscore_is_in_the_legend(queue: SearchQueue, tmp_path: Path) -> None:
    tree = read_tree(b"(;SZ[7]KM[9]PB[_ann]PW[Bo];B[dd];W[de])")
    page = write_review(tmp_path / "a.html", reviewed(tree, queue, 2)).read_text()
    assert "_ann" in page[page.index("Loss of each move") :].partition("</svg>")[0]


def test_the_page_of_a_game_without_moves_has_the_unit_of_the_network(queue: SearchQueue, tmp_path: Path) -> None:
    """A network that knows the score, but no move that lost a part of it."""
    page = write_review(tmp_path / "a.html", reviewed(read_tree(b"(;SZ[7]KM[9])"), queue, 2)).read_text()
    assert "below 1.5 points" in page and "of winrate" not in page
    assert "Loss of each move" not in page
    plots = [figure for figure in page.split("<figure>") if "Black's" in figure]
    points = [re.findall(r'<use [^>]*stroke: var\(--ink\)"/>', figure) for figure in plots]  # ticks have a width
    assert [len(one) for one in points] == [1, 1]


def test_the_page_counts_moves_in_whole_numbers(queue: SearchQueue, tmp_path: Path) -> None:
    found = reviewed(read_tree(b"(;SZ[7]KM[9];B[dd];W[aa])"), queue, 4)
    assert Summary.of(found.of(1)).bad == 1  # type: ignore[union-attr]
    page = write_review(tmp_path / "a.html", found).read_text()
    assert "1 move lost 3 points or more" in page and "0 moves lost" in page
    winrate = next(figure for figure in page.split("<figure>") if "Black's winrate" in figure)
    percents = [str(number) for number in range(0, 101, 20)]
    assert sorted(re.findall(r">([0-9.]+)</text>", winrate)) == sorted(["0", "1", "2", *percents])


def test_a_tree_of_a_played_game(queue: SearchQueue) -> None:
    game = Game(7, "chinese", 9)
    for point in (24, 25, 31):
        game.play(point)
    assert len(reviewed(GameTree.of_game(game), queue, 2).moves) == 3


def test_a_review_can_be_stopped(queue: SearchQueue) -> None:
    tree = read_tree(RECORD)
    assert review(tree, positions_of(tree), queue, 10**6, until=lambda: True) is None
    assert len(queue) == 0 or queue.start(Game(7), Limits(visits=1)).wait(10).visits == 1
