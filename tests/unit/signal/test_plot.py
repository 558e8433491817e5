"""What events look like: lines, spectra, sparklines."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest

import freshview as fv
from freshview import signal as sg
from tests.law import signals as law


@pytest.fixture
def axes() -> Any:
    matplotlib = pytest.importorskip("matplotlib", reason="matplotlib is not installed")
    matplotlib.use("Agg")
    from matplotlib import pyplot

    yield pyplot.subplots()[1]
    pyplot.close("all")


def events(groups: int = 2) -> dict[str, Any]:
    return law.all_of([(k, t, t + 2, float(k + t)) for k in range(groups) for t in (0, 2, 7)])


def samples() -> sg.UniformSignal:
    return law.readings().to_signal().sample(1)


def test_samples_are_a_line_for_each_group(axes: Any) -> None:
    result = samples().over(events())
    assert result.plot(axes=axes) is axes
    one, two = axes.get_lines()
    assert one.get_xdata().tolist() == [0, 1, 2, 3, 7, 8]
    assert two.get_ydata().tolist() == [1, 1, 3, 3, 8, 8]
    assert [t.get_text() for t in axes.get_legend().get_texts()] == ["sensor 0", "sensor 1"]
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("time", "value")


def test_events_hold_until_they_end(axes: Any) -> None:
    law.readings().to_signal().over(events(1)).plot(axes=axes)
    [line] = axes.get_lines()
    assert line.get_xdata().tolist() == [0, 2, 2, 2, 4, 4, 7, 9, 9]
    assert np.isnan(line.get_ydata()[2::3]).all()


def test_spectra_of_one_group_are_colours_and_of_several_lines(axes: Any) -> None:
    spectra = samples().windows(4, 1).fft().arrays().over(events())
    spectra.plot(axes=axes)
    arrays = spectra.group(sensor=1).to_numpy()["value"]
    assert np.allclose(axes.get_lines()[1].get_ydata(), np.abs(arrays).mean(axis=0))
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("entry", "|value|")
    axes.clear()
    spectra.group(sensor=1).plot(axes=axes)
    [mesh] = axes.collections
    assert np.allclose(np.ravel(mesh.get_array()), np.abs(arrays).T.ravel())


def test_many_groups_are_not_all_drawn(axes: Any) -> None:
    samples().over(events(30)).plot(axes=axes)
    assert len(axes.get_lines()) == 10
    assert axes.get_title() == "10 of 30 groups"


def test_what_cannot_be_plotted_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    result = samples().over(events())
    with pytest.raises(sg.BadSignal, match="no numbers 'colour'"):
        result.plot("colour")
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(fv.FreshviewError, match="plots need matplotlib"):
        result.plot()


def test_html_has_a_sparkline_for_each_group() -> None:
    html = samples().over(events())._repr_html_()
    assert html.startswith("<p>12 events of 2 groups: sensor, time, value</p>")
    assert html.count("<svg") == html.count("<polyline") == 2
    assert "<td>sensor 1</td>" in html
    assert "<svg" not in samples().windows(4, 4).fft().arrays().over(events())._repr_html_()
