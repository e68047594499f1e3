/** Custom operators that TensorFlow Lite registers itself: AudioSpectrogram, Mfcc and NumericVerify. */
import { describe, expect, it } from "vitest";
import { bool, float32, int32 } from "./_run.tflite.test-helper.ts";
import { elements, giveTensor, greatestDifference, of, shape } from "./_tensors.tflite.test-helper.ts";

describe("AudioSpectrogram", () => {
  const run = (samples: readonly number[][], size: number, stride: number, isSquared: boolean) => {
    const sound = giveTensor(of("float32"), samples.flat(), [samples.length, samples[0]?.length ?? 1]);
    return ["AudioSpectrogram", [sound, int32(size), int32(stride), bool(isSquared)], of("float32")] as const;
  };
  const samples = (count: number) => Array.from({ length: count }, (_, at) => [Math.sin(at), Math.cos(at * at)]);

  /** The magnitudes by the definition of the transform. */
  function magnitudes(sound: readonly number[], size: number, stride: number, length: number): number[] {
    const result: number[] = [];
    for (let first = 0; first + size <= sound.length; first += stride) {
      for (let bin = 0; bin <= length / 2; bin++) {
        let [real, imaginary] = [0, 0];
        for (let at = 0; at < size; at++) {
          const value = (sound[first + at] ?? 0) * Math.sin((Math.PI * at) / size) ** 2;
          real += value * Math.cos((2 * Math.PI * bin * at) / length);
          imaginary -= value * Math.sin((2 * Math.PI * bin * at) / length);
        }
        result.push(Math.hypot(real, imaginary));
      }
    }
    return result;
  }

  it.each([
    [8, 3, 8, 5],
    [6, 4, 8, 4],
    [2, 1, 2, 19],
    [20, 1, 32, 1],
  ])("of windows of %d at each %d", async (size, stride, length, windows) => {
    const sound = samples(20);
    const exact = [0, 1].flatMap((channel) =>
      magnitudes(
        sound.map((row) => row[channel] ?? 0),
        size,
        stride,
        length,
      ),
    );
    expect(await shape(...run(sound, size, stride, false))).toEqual([2, windows, length / 2 + 1]);
    expect(greatestDifference(await elements(...run(sound, size, stride, false)), exact)).toBeLessThan(1e-5);
    const squares = exact.map((value) => value ** 2);
    expect(greatestDifference(await elements(...run(sound, size, stride, true)), squares)).toBeLessThan(1e-4);
  });

  it("has no window in a sound that is shorter", async () => {
    expect(await shape(...run(samples(7), 8, 1, true))).toEqual([2, 0, 5]);
    expect(await shape(...run(samples(7), 2 ** 30, 1, true))).toEqual([2, 0, 2 ** 29 + 1]);
  });

  it("refuses windows of one sample and no stride", async () => {
    await expect(elements(...run(samples(7), 1, 1, true))).rejects.toThrow("window_size: expected at least 2, got 1");
    await expect(elements(...run(samples(7), 2, 0, true))).rejects.toThrow("stride: expected at least 1, got 0");
  });
});

describe("Mfcc", () => {
  const settings = { rate: 8000, upper: 3000, lower: 20, bands: 6, coefficients: 4 };
  const bins = 33;
  const spectra = Array.from({ length: 2 * bins }, (_, at) => Math.abs(Math.sin(at)) * at);
  const run = (changes: Partial<typeof settings & { bins: number }> = {}) => {
    const { rate, upper, lower, bands, coefficients, bins: count = bins } = { ...settings, ...changes };
    const spectrogram = giveTensor(of("float32"), spectra.slice(0, 2 * count), [1, 2, count]);
    return [
      "Mfcc",
      [spectrogram, giveTensor(of("int32"), [rate]), float32(upper), float32(lower), int32(bands), int32(coefficients)],
      of("float32"),
    ] as const;
  };

  /** Each band is a triangle on the mel scale, 1 at its centre and 0 at those of its neighbours. */
  function coefficientsOf(spectrum: readonly number[], { rate, upper, lower, bands, coefficients }: typeof settings) {
    const mel = (frequency: number) => 1127 * Math.log(1 + frequency / 700);
    const spacing = (mel(upper) - mel(lower)) / (bands + 1);
    const logarithms = Array.from({ length: bands }, (_, band) => {
      const sum = spectrum.reduce((total, square, bin) => {
        const frequency = (bin * rate) / 2 / (spectrum.length - 1);
        // Of the lowest frequencies those below a bin's half are left out, and so is the mean.
        const isIn = bin >= Math.floor(1.5 + lower / (rate / 2 / (spectrum.length - 1))) && frequency <= upper;
        const distance = Math.abs(mel(frequency) - mel(lower) - spacing * (band + 1)) / spacing;
        return total + (isIn ? Math.sqrt(square) * Math.max(0, 1 - distance) : 0);
      }, 0);
      return Math.log(Math.max(sum, 1e-12));
    });
    return Array.from({ length: coefficients }, (_, k) =>
      logarithms.reduce(
        (sum, value, band) => sum + Math.sqrt(2 / bands) * value * Math.cos((Math.PI / bands) * k * (band + 0.5)),
        0,
      ),
    );
  }

  it.each([
    {},
    { upper: 4000, lower: 0 },
    { bands: 40, coefficients: 40 },
    { bands: 1, coefficients: 1, lower: 500, upper: 501 },
    { rate: 16000, upper: 4000.9, lower: 20.9 },
  ])("of %j are those of the definition", async (changes) => {
    const all = { ...settings, ...changes };
    // Limits are whole numbers.
    const whole = { ...all, upper: Math.trunc(all.upper), lower: Math.trunc(all.lower) };
    const exact = [0, 1].flatMap((row) => coefficientsOf(spectra.slice(row * bins, (row + 1) * bins), whole));
    expect(await shape(...run(changes))).toEqual([1, 2, all.coefficients]);
    expect(greatestDifference(await elements(...run(changes)), exact)).toBeLessThan(2e-5);
  });

  it("is 0 if the upper limit is beyond the spectrum", async () => {
    expect(await elements(...run({ upper: 4000 }))).not.toContain(0);
    expect(await elements(...run({ upper: 4125 }))).toEqual(new Array(8).fill(0));
  });

  it.each([
    [{ rate: 0 }, "rate: expected at least 1, got 0"],
    [{ bins: 1 }, "expected at least 2 frequencies, got 1"],
    [{ bands: 0, coefficients: 0 }, "filterbank_channel_count: expected at least 1, got 0"],
    [{ coefficients: 0 }, "dct_coefficient_count is 0 where 1 to filterbank_channel_count, 6, are possible"],
    [{ coefficients: 7 }, "dct_coefficient_count is 7 where 1 to filterbank_channel_count, 6, are possible"],
    [{ lower: -1 }, "lower_frequency_limit: expected at least 0, got -1"],
    [{ lower: 3000 }, "upper_frequency_limit is 3000, not above lower_frequency_limit, 3000"],
  ])("refuses %j", async (changes, message) => {
    await expect(elements(...run(changes))).rejects.toThrow(message);
  });

  it("refuses several rates", async () => {
    const [name, [spectrogram, , ...options], output] = run();
    const two = [spectrogram, giveTensor(of("int32"), [8000, 8000]), ...options];
    await expect(elements(name, two, output)).rejects.toThrow("rate: expected 1 element, got 2");
  });
});

describe("NumericVerify", () => {
  const run = (type: "int8" | "uint8" | "int16", real: readonly number[], tolerance: number, isStrict: boolean) => {
    const input = giveTensor(of(type, 0.5, type === "uint8" ? 3 : 0), [7, 9]);
    return elements(
      "NumericVerify",
      [input, giveTensor(of("float32"), real), float32(tolerance), bool(isStrict)],
      of("float32"),
    );
  };

  it("is the difference of the real values", async () => {
    expect(await run("int8", [3, 5], 5, true)).toEqual([0.5, -0.5]);
    expect(await run("int16", [3, 5], 5, false)).toEqual([0.5, -0.5]);
    expect(await run("uint8", [2, 1], 5, false)).toEqual([0, 2]);
  });

  it("refuses differences above the tolerance, if it is at least 0.1 and asked to", async () => {
    expect(await run("int8", [3, 5], 1, true)).toEqual([0.5, -0.5]);
    await expect(run("int8", [3, 5], 0.99, true)).rejects.toThrow("element 0 is 3.5 where the reference is 3");
    await expect(run("int8", [3, 5], 0.1, true)).rejects.toThrow("element 0 is 3.5");
    expect(await run("int8", [3, 5], 0.0999, true)).toEqual([0.5, -0.5]);
    expect(await run("int8", [3, 5], 0.99, false)).toEqual([0.5, -0.5]);
  });

  it("refuses a reference of another shape", async () => {
    await expect(run("int8", [3, 5, 7], 1, false)).rejects.toThrow("the shape of the reference: expected 2, got 3");
  });
});
