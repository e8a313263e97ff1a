"""The package against the command and scipy.  PIPEC_LIBRARY and PIPEC_COMMAND say what is tested."""

import copy
import inspect
import os
import pickle
import subprocess
import sys
import threading

import numpy as np
import pytest

import pipec

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SQUARES = """input image[y, x]
param least = 100 in 0 .. 255 "of what is an object"
objects = label(image >= least)
output twice = 2 * f32(image)
output objects
output most = max(image)
output table = measure(objects, area, centroid)
"""


@pytest.fixture(scope="module")
def squares():
    return pipec.compile(SQUARES)


@pytest.fixture
def image():
    pixels = np.tile(np.arange(61, dtype="uint8"), (47, 1))
    pixels[6:10, 5:9], pixels[20:25, 30:35] = 200, 250
    return pixels


def test_results_by_name(squares, image):
    result = squares(image)
    assert list(result) == ["twice", "objects", "most", "table"]
    assert np.array_equal(result.twice, 2 * image.astype("float32"))
    assert result.objects.dtype == np.uint32 and result.count("objects") == 2
    assert result.most == 250 and result["most"] == 250
    assert result.table["area"].tolist() == [16, 25] and result.table["area"].dtype == np.int64
    assert result.table.to_pandas() is not None if "pandas" in sys.modules else True
    with pytest.raises(AttributeError, match="there are twice, objects"):
        result.nothing
    twice = result.twice
    del result
    assert twice[22, 33] == 500  # pixels outlive the result


@pytest.mark.parametrize("what, error, text", [
    (lambda p, a: p(np.ma.masked_greater(a, 100)), pipec.ImageError, "pixels that are masked"),
    (lambda p, a: p(None), pipec.ImageError, "takes an array, not None"),
    (lambda p, a: p("blobs.tif"), pipec.ImageError, "takes an array, not 'blobs.tif'"),
    (lambda p, a: p(a, a), TypeError, "takes 1 image, not 2"),
    (lambda p, a: p(a, progress=True), TypeError, "progress takes a function"),
    (lambda p, a: p(a, pixel_size="0.5 mil"), pipec.ArgumentError, "such as '0.65um'"),
    (lambda p, a: p(a, memory=4), pipec.NoMemoryError, "the least that will do is memory=[0-9]+ "),
    (lambda p, a: p(a, out={"twice": np.zeros(a.shape, "uint8")}), pipec.ImageError, "array of uint8, but the output has float32"),
    (lambda p, a: p(a)["nothing"], KeyError, "there are twice, objects"),
    (lambda p, a: p(a).table["nothing"], KeyError, "there are label, area"),
    (lambda p, a: pipec.compile(b"x = 3"), TypeError, "path of a pipeline or its text, not bytes"),
])
def test_mistakes_are_told(squares, image, what, error, text):
    with pytest.raises(error, match=text):
        what(squares, image)


def test_pickled_and_copied(squares, image):
    result = squares(image)
    for again in (pickle.loads(pickle.dumps(result)), copy.deepcopy(result), pickle.loads(pickle.dumps(squares))(image)):
        assert np.array_equal(again.twice, result.twice) and again.count("objects") == 2 and again.most == 250
        assert again.table["area"].tolist() == [16, 25] and np.array_equal(again.scale("twice"), result.scale("twice"))


def test_axes_of_xarray_and_masks_of_nothing(squares, image):
    class Turned:  # what xarray.DataArray has of this
        shape, dtype, dims = image.T.shape, image.dtype, ("x", "y")

        def __getitem__(self, index):
            return image.T[index]

    for array in (Turned(), np.ma.masked_greater(image, 255)):
        assert np.array_equal(squares(array).twice, 2 * image.astype("float32"))


def test_labels_that_do_not_fit_are_told(image):
    dots = pipec.compile("input image[y, x]\noutput dots = label(x_of(image) % 2 == 0 and y_of(image) % 2 == 0)")
    narrow = np.zeros(image.shape, "uint16")
    assert dots(image, out={"dots": narrow}).dots is narrow and narrow.max() == 24 * 31
    with pytest.raises(pipec.ImageError, match="from 0 to [0-9]+, which do not fit into an array of uint8"):
        dots(image, out={"dots": np.zeros(image.shape, "uint8")})


def test_pixel_sizes_with_units(image):
    blur = pipec.compile("input image[y, x]\noutput b = gaussian(image, 1 um)")
    assert np.array_equal(blur(image, pixel_size="500nm").b, blur(image, pixel_size=(0.5, 0.5)).b)


@pytest.mark.parametrize("change", [
    lambda a: a, lambda a: a.astype("uint16"), lambda a: np.asfortranarray(a), lambda a: a.astype(">u2"),
    lambda a: np.repeat(a, 2, 1)[:, ::2], lambda a: a[::-1][::-1], lambda a: a.astype("int64"), lambda a: a.astype("float32"),
    lambda a: a.astype("float16"), lambda a: a.astype("int64").tolist(),
])
def test_any_memory(squares, image, change):
    assert np.array_equal(squares(change(image)).twice, 2 * image.astype("float32"))


def test_axes_and_channels(image):
    stack = np.stack([image, image // 2, image // 3], -1)
    pipeline = pipec.compile("input image[y, x, c]\noutput a = image[c = 1]\noutput all = image\n")
    assert np.array_equal(pipeline(stack).a, stack[..., 1])
    assert np.array_equal(pipeline(stack.transpose(2, 0, 1), axes="cyx").all, stack)
    with pytest.raises(pipec.ImageError, match="axes y, x, c"):
        pipeline(image)
    single = pipec.compile("input image[y, x]\noutput a = image\n")
    assert np.array_equal(single(image[None], axes="tyx").a, image)
    with pytest.raises(pipec.ImageError, match="once for each of its 3 images along t"):
        single(np.stack([image] * 3), axes="tyx")


def test_volume_and_pixel_size():
    volume = np.random.default_rng(1).random((5, 20, 30)).astype("float32")
    pipeline = pipec.compile("input v[z, y, x]\noutput a = gaussian(v, 2um)\noutput m = max_project(v, z)\n")
    result = pipeline(volume, pixel_size=(2, 1, 1))
    other = pipec.compile("input v[z, y, x]\noutput a = gaussian(v, [1, 2, 2])\n")(volume)
    assert np.array_equal(result.a, other.a)
    assert np.array_equal(result.m, volume.max(0))


def test_params_are_checked(squares, image):
    assert squares(image, least=225).count("objects") == 1
    assert squares(image, params={"least": 225}).count("objects") == 1
    with pytest.raises(pipec.ArgumentError, match="0 .. 255"):
        squares(image, least=256)
    with pytest.raises(pipec.ArgumentError, match="takes a number"):
        squares(image, least="many")
    with pytest.raises(TypeError, match="it takes image, least"):
        squares(image, most=1)
    with pytest.raises(TypeError, match="lacks the image"):
        squares(least=3)


def test_params_of_words(image):
    pipeline = pipec.compile(
        "input image[y, x]\nparam way = up in [up, down]\nparam twice = false\n"
        "a = image + 1 if way == up else image - 1\noutput b = 2 * a if twice else a\n"
        "output profile = sum_project(image, x) as csv\n"
    )
    assert np.array_equal(pipeline(image).b, image + 1.0)
    assert np.array_equal(pipeline(image, way="down", twice=True).b, 2 * (image - 1.0))
    assert inspect.signature(pipeline).parameters["way"].default == "up" and "one of up, down" in pipeline.__doc__
    assert np.array_equal(pipeline(image).profile, image.sum(1))
    assert pipeline.plan(image).outputs["profile"] == ((47,), "float32")
    with pytest.raises(pipec.ArgumentError, match="is no image"):
        pipeline(image, out={"profile": np.zeros(47)})
    with pytest.raises(pipec.ArgumentError, match="one of up, down"):
        pipeline(image, way="left")


def test_mistakes_are_data():
    with pytest.raises(pipec.CompileError) as caught:
        pipec.compile("input image[y, x]\noutput a = gausian(image, 2)\n")
    assert "^^^^^^^" in str(caught.value) and "did you mean `gaussian`" in str(caught.value)
    mistake = caught.value.mistakes[0]
    assert mistake["line"] == 2 and mistake["code"] == "P0501"
    with pytest.raises(FileNotFoundError):
        pipec.compile("there is none.pipe")


def test_help(squares):
    signature = inspect.signature(squares)
    assert list(signature.parameters)[:2] == ["image", "least"]
    assert signature.parameters["least"].default == 100
    assert "of what is an object, 0 .. 255" in squares.__doc__
    assert "kernel void" in squares.kernels() and squares.source == SQUARES and squares.graph().startswith("digraph")


def test_forest_text(image):
    """Of what a forest of scikit-learn has: nodes in any order, fractions, NaN to the left."""
    from types import SimpleNamespace as Some
    tree = Some(node_count=5, children_left=np.array([2, -1, -1, 1, -1]), children_right=np.array([3, -1, -1, 4, -1]),
                feature=np.array([1, -2, -2, 0, -2]), threshold=np.array([99.5, -2, -2, 0.1, -2]),
                missing_go_to_left=np.array([1, 0, 0, 0, 0]),
                value=np.array([[[0.5, 0.5]], [[1, 0]], [[0.25, 0.75]], [[1, 0]], [[0, 1]]]))
    forest = Some(n_features_in_=2, classes_=np.array([1, 4]), estimators_=[Some(tree_=tree, n_outputs_=1)])
    text = pipec.forest_text(forest)
    assert text.split("\n")[1:] == ["split 1 99.5 nan", "leaf 0.25 0.75", "split 0 0.1", "leaf 1.0 0.0", "leaf 0.0 1.0", ""]
    classes = pipec.compile('input image[y, x]\noutput a = classify(image, image, forest = "%s")\n' % " ".join(text.split()))
    assert (classes(image).a == 4).all()
    forest.classes_ = np.array([0.5, 1])
    with pytest.raises(ValueError, match="whole numbers"):
        pipec.forest_text(forest)


def test_plan(squares):
    plan = squares.plan(((20000, 30000), "uint16"), memory="1GiB")
    assert plan.in_parts and plan.peak <= 2**30 and plan.outputs["objects"] == ((20000, 30000), "uint32")
    assert not squares.plan(np.zeros((10, 20), "uint8")).in_parts


class Slices:
    """An array that gives slices only, and counts what it was asked for."""

    def __init__(self, array, chunks=None):
        self.array, self.shape, self.dtype, self.most = array, array.shape, array.dtype, 0
        if chunks:
            self.chunks = chunks

    def __getitem__(self, index):
        part = self.array[index]
        self.most = max(self.most, part.size)
        return part

    def __setitem__(self, index, pixels):
        self.most = max(self.most, pixels.size)
        self.array[index] = pixels


@pytest.mark.parametrize("chunks", [None, (64, 64)])
def test_larger_than_memory(chunks):
    big = np.random.default_rng(2).integers(0, 256, (1000, 700), "uint8")
    pipeline = pipec.compile("input image[y, x]\noutput a = gaussian(image, 2) > 120\n")
    source, to = Slices(big, chunks), Slices(np.zeros((1000, 700), bool))
    result = pipeline(source, out={"a": to}, memory="400KiB")
    assert result.a is to and np.array_equal(to.array, pipeline(big).a)
    assert to.most < big.size / 2 and source.most < big.size / 2


def test_transposed_slices():
    big = np.random.default_rng(3).integers(0, 256, (50, 70), "uint8")
    pipeline = pipec.compile("input image[y, x]\noutput a = image + 1\n")
    assert np.array_equal(pipeline(Slices(big.T), axes="xy").a, pipeline(big).a)


def test_failures_of_arrays_come_through(squares, image):
    class Broken(Slices):
        def __getitem__(self, index):
            raise KeyError("no such chunk")

        __setitem__ = __getitem__

    with pytest.raises(KeyError, match="no such chunk"):
        squares(Broken(image))
    with pytest.raises(pipec.ArgumentError, match="takes slices"):
        squares(image, out={"twice": Slices(np.zeros(image.shape)), "objects": 3})
    with pytest.raises(pipec.ImageError, match="the output has"):
        squares(image, out={"twice": np.zeros((3, 3))})
    assert squares(image).most == 250


def test_progress_and_cancel(squares, image):
    shares = []
    squares(image, progress=lambda done: shares.append(done))
    assert shares and all(0 <= share <= 1 for share in shares)
    with pytest.raises(pipec.Cancelled):
        squares(image, progress=lambda done: True)
    with pytest.raises(ZeroDivisionError):
        squares(image, progress=lambda done: 1 / 0)


def test_threads(squares, image):
    counts, failures = [], []

    def work():
        try:
            counts.extend(squares(image, least=100 + 125 * (i % 2)).count("objects") for i in range(6))
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work) for _ in range(4)]
    [t.start() for t in threads]
    [t.join() for t in threads]
    assert not failures and sorted(counts) == [1] * 12 + [2] * 12


def test_devices():
    assert any(device["kind"] in ("CPU", "GPU") for device in pipec.devices())
    with pytest.raises(pipec.DeviceError):
        pipec.Device("no such device")


def test_nothing_is_left_behind(squares, image):
    def held():
        with open("/proc/self/statm") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    small = pipec.compile("input image[y, x]\noutput a = image + 1\noutput t = measure(label(image > 3), area)\n")
    for _ in range(200):
        small(image).a
    before = held()
    for _ in range(1000):
        small(image).a
    assert held() - before < 4 << 20


@pytest.mark.parametrize("sample", ["blobs", "harris", "nuclei"])
def test_same_bytes_as_the_command(sample, tmp_path):
    tifffile = pytest.importorskip("tifffile")
    from pipec import _command

    try:
        command = _command.path()
    except FileNotFoundError:
        pytest.skip("the command is not here")
    pipeline = pipec.compile(os.path.join(ROOT, "samples", sample + ".pipe"))
    path = os.path.join(ROOT, "samples", "nuclei.tif" if sample == "nuclei" else "blobs.tif")
    subprocess.run([command, "run", os.path.join(ROOT, "samples", sample + ".pipe"), path, "-o", tmp_path], check=True)
    result = pipeline(tifffile.imread(path))
    stem, looked = os.path.basename(path)[:-4], 0
    for output in pipeline.outputs:
        file = tmp_path / f"{stem}_{output['name']}.tif"
        if file.exists():
            assert np.array_equal(np.squeeze(tifffile.imread(file)), np.squeeze(result[output["name"]])), output["name"]
            looked += 1
    assert looked > 0


def test_batch(tmp_path, squares, image):
    tifffile = pytest.importorskip("tifffile")
    (tmp_path / "in").mkdir()
    for i in range(3):
        tifffile.imwrite(tmp_path / "in" / f"{i}.tif", image)
    out = squares.batch(tmp_path / "in", tmp_path / "out", least=225)
    assert (out / "table.csv").read_text().count("\n") == 4
    with pytest.raises(pipec.ArgumentError):
        squares.batch(tmp_path / "in", tmp_path / "out2", least=900)
    assert "objects" in squares.explain()


def test_notebook(image, capsys):
    from pipec.notebook import pipe

    class Shell:
        user_ns = {"image": image, "least": 225}

    pipe("", SQUARES, Shell)
    assert Shell.user_ns["most"] == 250 and Shell.user_ns["table"]["area"].tolist() == [25]
    pipeline = pipe("squares", SQUARES, Shell)
    assert Shell.user_ns["squares"] is pipeline and "<pre>" in pipeline._repr_html_()
    html = pipeline(image)._repr_html_()
    assert html.count("data:image/png") == 2 and "<table" in html
    pipe("", "input image[y, x]\noutput a = gausian(image)\n", Shell)
    assert "did you mean" in capsys.readouterr().out
