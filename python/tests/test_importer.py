"""Scripts of other packages as pipelines; scikit-image's and scipy's own results, where they are installed."""

import os
import subprocess

import numpy as np
import pytest

import pipec
from pipec.importer import import_text

MACRO = """
run("CLIJ2 Macro Extensions", "cl_device=");
input = getTitle(); // the window
Ext.CLIJ2_push(input);
sigma = 2;
Ext.CLIJ2_gaussianBlur2D(input, blurred, sigma, sigma);
Ext.CLIJ2_topHatBox(blurred, flat, 10, 10, 0);
Ext.CLIJ2_thresholdOtsu(flat, mask);
Ext.CLIJ2_connectedComponentsLabelingBox(mask, labels);
Ext.CLIJ2_excludeLabelsOnEdges(labels, inner);
Ext.CLIJ2_subtractImages(input, blurred, detail);
Ext.CLIJ2_statisticsOfLabelledPixels(input, inner);
Ext.CLIJ2_pull(inner);
doSomethingElse(inner);
"""

SCRIPT = '''"""Spots."""
import numpy as np
from skimage import io, filters, measure, morphology
from scipy import ndimage as ndi

image = io.imread("spots.tif")
sigma = 2.0
blurred = filters.gaussian(image, sigma=sigma, preserve_range=True)
t = filters.threshold_otsu(blurred)
mask = blurred > t
mask = ndi.binary_fill_holes(mask)
mask = morphology.remove_small_objects(mask, min_size=20)
labels = measure.label(mask)
corrected = (image.astype(np.float32) - np.median(image)) / image.max()
table = measure.regionprops_table(labels, intensity_image=image, properties=("label", "area", "mean_intensity"))
for row in table:
    print(row)
io.imsave("labels.tif", labels)
io.imsave("corrected.tif", corrected)
'''


@pytest.fixture(scope="module")
def image():
    y, x = np.mgrid[:96, :128]
    spots = [(20, 30, 5), (50, 80, 7), (70, 20, 4), (5, 120, 6), (60, 110, 1)]
    pixels = 20 + sum(180 * np.exp(-((y - a) ** 2 + (x - b) ** 2) / (2 * s * s)) for a, b, s in spots)
    return pixels.clip(0, 255).astype("uint8")


def test_macro(image):
    text = import_text(MACRO, "count.ijm")
    for line in ("input image[y, x]", "param sigma = 2", "blurred = gaussian(image, sigma)", "flat = tophat(blurred, 10)",
                 "labels = label(mask, connectivity = 8)", "detail = image - blurred", "# decide: doSomethingElse(inner)",
                 "output table", "output inner"):
        assert line in text.splitlines(), text
    result = pipec.compile(text)(image)
    assert result.count("inner") >= 1 and result.table.rows == result.count("inner")


def test_script(image):
    text = import_text(SCRIPT, "spots.py")
    assert "# decide: for row in table:" in text and "param sigma = 2.0" in text
    filters = pytest.importorskip("skimage.filters")
    from scipy import ndimage
    from skimage import measure

    result = pipec.compile(text)(image)
    blurred = filters.gaussian(image, sigma=2.0, preserve_range=True)
    mask = ndimage.binary_fill_holes(blurred > filters.threshold_otsu(blurred))
    parts = measure.label(mask, connectivity=1)
    large = np.bincount(parts.ravel()) >= 20
    large[0] = False
    labels = measure.label(large[parts])
    found = next(name for name in result if name.startswith("labels"))
    assert np.array_equal(result[found], labels)
    assert np.allclose(result.corrected, (image - np.median(image)) / image.max(), atol=1e-6)


def test_script_of_clesperanto():
    text = import_text(
        "import pyclesperanto as cle\nimg = cle.imread('a.tif')\nb = cle.gaussian_blur(cle.push(img), sigma_x=1, sigma_y=1)\n"
        "o = cle.threshold_otsu(b)\nl = cle.connected_components_labeling_box(o)\nfrob = cle.frobnicate(l)\ncle.imshow(l)\n", "a.py")
    assert "b = gaussian(img, 1)" in text and "o = b > otsu(b)" in text and "output l" in text
    assert "# decide: frob = frobnicate(l)" in text
    pipec.compile(text)


@pytest.mark.parametrize("text", ["", "x = 1\n", "def f():\n    pass\n", "a = b = c\n", "import os\nos.remove('a')\n", "input = 3\n",
                                  "x = [i for i in range(3)]\n", "param = io.imread('a')\nfn = param + 1\nimsave('x', fn)\n"])
def test_anything_is_answered(text):
    assert import_text(text, "a.py").startswith("# from a.py")


def test_command(tmp_path):
    from pipec import _command

    try:
        command = _command.path()
    except FileNotFoundError:
        pytest.skip("the command is not here")
    (tmp_path / "count.ijm").write_text(MACRO)
    (tmp_path / "pipec").mkdir()  # what lies in the current folder is not run
    (tmp_path / "pipec" / "__init__.py").write_text("raise SystemExit('somebody else')\n")
    said = subprocess.run([command, "import", "count.ijm"], cwd=tmp_path, capture_output=True, text=True, check=True).stdout
    assert said == import_text(MACRO, "count.ijm")
    assert subprocess.run([command, "import", "no.py"], cwd=tmp_path, capture_output=True).returncode != 0
    assert "input image[y, x]" in said and os.linesep in said
