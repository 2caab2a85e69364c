"""Sounds: what `wave` of the standard library writes arrives; bands against a slow twin."""

import cmath
import math
import struct
import wave

import numpy as np
import pytest

import seriatim as st
from seriatim.data.formats import read_files, wav
from seriatim.errors import ConfigError, DataError
from seriatim.tasks import task


def written(path, samples, width=2, channels=1, rate=8000):
    """Samples from -1 to 1, (T,) or (T, 2), by the standard library."""
    most = 1 << 8 * width - 1
    with wave.open(str(path), "wb") as file:
        file.setnchannels(channels)
        file.setsampwidth(width)
        file.setframerate(rate)
        for each in np.asarray(samples).reshape(-1).tolist():
            whole = round(each * most)
            offset = whole + 128 if width == 1 else whole
            file.writeframesraw(offset.to_bytes(width, "little", signed=width > 1))
    return str(path)


def tone(pitch, seconds=0.2, rate=8000, noise=0.0, seed=0):
    time = np.arange(int(seconds * rate)) / rate
    dice = np.random.default_rng(seed)
    sound = 0.4 * np.sin(2 * np.pi * pitch * time) + noise * dice.standard_normal(len(time))
    return sound.clip(-0.99, 0.99)


@pytest.mark.parametrize("width", [1, 2, 3, 4])
def test_samples_of_every_width_arrive(tmp_path, width):
    samples = [0.0, 0.5, -0.5, -1.0, 0.25]
    data = read_files(written(tmp_path / "a.wav", samples, width))
    assert data.main.values.tolist() == [[each] for each in samples]
    assert data.is_series and data.field("time").values.tolist() == [0, 1, 2, 3, 4]


def test_two_channels_are_their_mean(tmp_path):
    path = written(tmp_path / "a.wav", [[0.5, 0.25], [-1.0, 0.5]], channels=2)
    assert read_files(path).main.values[:, 0].tolist() == [0.375, -0.25]


def test_another_rate_is_the_mean_over_the_time_of_each_sample(tmp_path):
    path = written(tmp_path / "a.wav", np.arange(12) / 16, rate=12)
    halved = read_files(path, own={"sample_rate": 6}).main.values[:, 0]
    assert np.allclose(halved, (np.arange(0, 12, 2) + 0.5) / 16)
    # 12 -> 8: a sample lasts 1.5 of the old ones
    found = read_files(path, own={"sample_rate": 8}).main.values[:, 0] * 16
    assert np.allclose(found[:2], [(0 + 0.5 * 1) / 1.5, (0.5 * 1 + 2) / 1.5]) and len(found) == 8
    with pytest.raises(DataError, match="more samples than it has"):
        read_files(path, own={"sample_rate": 24})


def test_energies_are_those_of_a_slow_twin():
    sound = tone(1000, 0.02, noise=0.1)
    found, edges, size = wav.energies(sound, 64), wav.edges_of(64), 64
    window = [math.sin(math.pi * n / size) ** 2 for n in range(size)]
    padded = [*sound.tolist(), *[0.0] * (-len(sound) % size)]
    assert found.shape == (3, 8) and edges[0] == 1 and edges[-1] == 32
    for f in range(3):
        x = [w * each for w, each in zip(window, padded[f * size :])]
        power = [
            abs(sum(x[n] * cmath.exp(-2j * cmath.pi * k * n / size) for n in range(size))) ** 2
            / sum(w * w for w in window)
            for k in range(33)
        ]
        for b in range(8):
            band = power[edges[b] : edges[b + 1]]
            assert math.isclose(found[f, b], math.log(1e-8 + sum(band) / len(band)), rel_tol=1e-6)


def test_the_band_of_a_tone_is_the_loudest(tmp_path):
    path = written(tmp_path / "a.wav", tone(1500))
    values = read_files(path, own={"frame": 256}).main.values
    edges = wav.edges_of(256)
    band = int(np.searchsorted(edges, 1500 / 8000 * 256, "right")) - 1
    assert values.shape == (7, 8) and (values[:6].argmax(1) == band).all()
    with pytest.raises(ConfigError, match="a frame has"):
        read_files(path, own={"frame": 5})


def riff(*chunks):
    body = b"WAVE" + b"".join(name + struct.pack("<I", len(x)) + x for name, x in chunks)
    return b"RIFF" + struct.pack("<I", len(body)) + body


FORM = struct.pack("<HHIIHH", 1, 1, 8000, 16000, 2, 16)


@pytest.mark.parametrize(
    "content, words",
    [
        (b"no sound", "not a WAVE file"),
        (riff((b"fmt ", FORM)), "no samples"),
        (riff((b"data", b"ab")), "does not say how"),
        (riff((b"fmt ", FORM), (b"data", b"")), "is empty"),
        (riff((b"fmt ", FORM), (b"data", b"abcd"))[:-2], "ends too early"),
        (riff((b"fmt ", b"\3" + FORM[1:]), (b"data", b"ab")), "floats"),
        (riff((b"fmt ", FORM[:2] + b"\6" + FORM[3:]), (b"data", b"ab")), "6 channels"),
        (riff((b"fmt ", FORM[:14] + b"\x0c\0"), (b"data", b"ab")), "12 bits"),
    ],
)
def test_what_cannot_be_read_is_said(tmp_path, content, words):
    (tmp_path / "a.wav").write_bytes(content)
    with pytest.raises(DataError, match=words) as caught:
        read_files(tmp_path / "a.wav")
    assert caught.value.file == str(tmp_path / "a.wav")


def test_parts_that_mean_nothing_to_us_are_passed_over_and_samples_may_be_said_at_length(tmp_path):
    long = b"\xfe\xff" + FORM[2:] + struct.pack("<HHIH", 22, 16, 4, 1) + bytes(14)
    content = riff((b"LIST", b"abc\0"), (b"fmt ", long), (b"data", b"\0\x40\0\xc0"))
    (tmp_path / "a.wav").write_bytes(content)
    assert read_files(tmp_path / "a.wav").main.values[:, 0].tolist() == [0.5, -0.5]


def test_a_sound_that_is_too_long_is_refused_before_it_is_unfolded(tmp_path, monkeypatch):
    monkeypatch.setattr(wav, "MOST_SAMPLES", 10)
    with pytest.raises(DataError, match="too long"):
        read_files(written(tmp_path / "a.wav", np.zeros(11)))


@pytest.fixture
def sounds(tmp_path):
    """Two folders of sounds, low and high."""
    for name, pitch in (("low", 300), ("high", 2000)):
        (tmp_path / "sounds" / name).mkdir(parents=True)
        for i in range(12):
            sound = tone(pitch * (1 + i / 100), 0.1, noise=0.05, seed=i)
            written(tmp_path / "sounds" / name / f"{i}.wav", sound)
    return tmp_path / "sounds"


def test_folders_of_sounds_are_classified(sounds, tmp_path):
    model = st.fit("classify", "linear", sounds, frame=128, sample_rate=4000)
    assert model.evaluate(sounds)["accuracy"] == 1.0  # read as the fit did
    one = str(sounds / "high" / "3.wav")
    assert model.predict(one)["items"][0]["label"] == "high"
    several = [sounds / "low" / "3.wav", sounds / "high" / "2.wav"]
    assert [each["label"] for each in model.predict(several)["items"]] == ["low", "high"]


def test_the_names_of_sounds_in_one_folder_are_their_labels(tmp_path):
    for i in range(3):
        written(tmp_path / f"7_ann_{i}.wav", tone(200))
        written(tmp_path / f"no-{i}.wav", tone(300))
    data = task("classify").cut.sequences(tmp_path)
    assert [data[s]["label"] for s in range(6)] == [["7"]] * 3 + [["no"]] * 3


def test_sounds_are_forecast_and_autoencoded(sounds, tmp_path):
    path = written(tmp_path / "a.wav", tone(500, 0.1))
    model = st.fit("forecast", "lags-ridge", path, horizon=4, sample_rate=4000)
    assert len(model.predict(path)["items"][0]["channels"]["sound"]["mean"]) == 4
    files = sorted((sounds / "low").iterdir())
    settings = {"frame": 128, "width": 8, "latent": 2, "updates": 2}
    small = st.fit("autoencode", "gru", files, valid=files, **settings)
    record = small.generate(length=3)
    assert len(record["items"][0]["numbers"][0]) == 8
