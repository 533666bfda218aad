"""The tree of variations and its drawing."""

from tengen.web.tree import GameTree, walk


def grown() -> GameTree:
    """A main line of four moves, a branch of two at the second, another at the first."""
    tree = GameTree()
    node = tree.root
    main = []
    for ply, point in enumerate((10, 11, 12, 13)):
        node = tree.add(node, ply % 2, point)
        main.append(node)
    branch = tree.add(main[0], 1, 20)
    tree.add(branch, 0, 21)
    tree.add(tree.root, 0, 30)
    return tree


def test_paths_lines_and_plies() -> None:
    tree = grown()
    last = tree.line(tree.root)[-1]
    assert [node.point for node in last.path()] == [10, 11, 12, 13] and last.ply == 4
    assert tree.root.path() == [] and tree.root.ply == 0


def test_the_way_that_was_visited_is_followed() -> None:
    tree = grown()
    branch = tree.root.children[0].children[1]
    tree.visit(branch)
    assert [node.point for node in tree.line(tree.root)] == [10, 20, 21]
    tree.remove(branch)
    assert [node.point for node in tree.line(tree.root)] == [10, 11, 12, 13]
    assert tree.get(branch.id) is None and len(tree) == 6


def test_drawing_keeps_every_node_apart_and_parents_first() -> None:
    tree = grown()
    drawn = tree.drawing()
    assert len({(column, row) for _, column, row, _, _ in drawn}) == len(tree) == len(drawn)
    for index, (_, column, row, kind, parent) in enumerate(drawn):
        if kind != "root":
            assert parent < index and drawn[parent][1] == column - 1 and drawn[parent][2] <= row
    main = [entry for entry in drawn if entry[2] == 0]
    assert [column for _, column, *_ in main] == [0, 1, 2, 3, 4]


def test_a_very_long_line_needs_no_deep_recursion() -> None:
    tree = GameTree()
    node = tree.root
    for ply in range(5000):
        node = tree.add(node, ply % 2, ply % 361)
    assert len(tree.drawing()) == 5001 == sum(1 for _ in walk(tree.root))
    assert node.ply == 5000
