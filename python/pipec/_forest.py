"""Forests that scikit-learn has trained, as text for `classify(..., forest = "cells.forest")`."""


def forest_text(forest):
    """The text of a RandomForestClassifier, ExtraTreesClassifier or DecisionTreeClassifier that has been fitted.

        open("cells.forest", "w").write(pipec.forest_text(forest))

    Its classes must be whole numbers.
    """
    trees = getattr(forest, "estimators_", [forest])
    if not all(hasattr(tree, "tree_") and tree.n_outputs_ == 1 for tree in trees):
        raise ValueError("expected a fitted forest of decision trees with one output")
    if any(number != int(number) for number in forest.classes_.astype(float)):
        raise ValueError("the classes of a forest must be whole numbers")
    lines = ["forest 1 features %d classes %s trees %d" % (
        forest.n_features_in_, " ".join(str(int(number)) for number in forest.classes_), len(trees))]
    for tree in trees:
        add_nodes(tree.tree_, lines)
    return "\n".join(lines) + "\n"


def add_nodes(tree, lines):
    """The lines of one tree: a node, those of its left side, those of its right side."""
    left, right = tree.children_left, tree.children_right
    nan_left = getattr(tree, "missing_go_to_left", [0] * tree.node_count)
    nodes = [0]
    while nodes:
        at = nodes.pop()
        if left[at] >= 0:
            lines.append("split %d %r%s" % (tree.feature[at], float(tree.threshold[at]), " nan" if nan_left[at] else ""))
            nodes += [right[at], left[at]]
            continue
        weights = tree.value[at, 0]
        if tree.value[0, 0].sum() > 1.5:  # scikit-learn before 1.3 has counts
            weights = weights / weights.sum()
        lines.append("leaf " + " ".join(repr(float(weight)) for weight in weights))
