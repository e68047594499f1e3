import { describe, expect, test } from "vitest";
import { numbers, runOne, struct } from "./_run.test-helper.ts";

const [SAME, VALID] = [1, 2];
const customCode = "Convolution2DTransposeBias";

interface Case {
  readonly input: readonly [number, number, number, number];
  readonly filter: readonly [number, number, number, number];
  readonly padding: number;
  readonly strides: readonly [width: number, height: number];
}

/** By the definition: each element of the input is spread over the result by the filter; then the bias, and what the padding takes away. */
function computeExpected({ input, filter, padding, strides }: Case, x: number[], w: number[], bias: number[]) {
  const [batches, height, width, channels] = input;
  const [depth, filterHeight, filterWidth] = filter;
  const [strideX, strideY] = strides;
  const full = [(height - 1) * strideY + filterHeight, (width - 1) * strideX + filterWidth] as const;
  const cut = (extent: number, size: number, stride: number) =>
    padding === SAME ? Math.max(0, size - ((extent - 1) % stride) - 1) : 0;
  const cuts = [cut(height, filterHeight, strideY), cut(width, filterWidth, strideX)] as const;
  const shape = [batches, full[0] - cuts[0], full[1] - cuts[1], depth] as const;
  const data = Array.from({ length: shape[0] * shape[1] * shape[2] * depth }, (_, at) => bias[at % depth] ?? 0);
  for (let at = 0; at < x.length; at++) {
    const channel = at % channels;
    const column = Math.floor(at / channels) % width;
    const row = Math.floor(at / channels / width) % height;
    const batch = Math.floor(at / channels / width / height);
    for (let tap = 0; tap < w.length / channels; tap++) {
      const tapColumn = tap % filterWidth;
      const tapRow = Math.floor(tap / filterWidth) % filterHeight;
      const out = Math.floor(tap / filterWidth / filterHeight);
      const y = row * strideY + tapRow - Math.floor(cuts[0] / 2);
      const left = column * strideX + tapColumn - Math.floor(cuts[1] / 2);
      if (y < 0 || y >= shape[1] || left < 0 || left >= shape[2]) continue;
      data[((batch * shape[1] + y) * shape[2] + left) * depth + out] +=
        (x[at] ?? 0) * (w[tap * channels + channel] ?? 0);
    }
  }
  return { shape, data: data.map(Math.fround) };
}

const run = (given: Case, options: Uint8Array, x: number[], w: number[], bias: number[]) =>
  runOne({ customCode, options }, { shape: given.input, data: x }, [
    { shape: given.filter, data: w },
    { shape: [bias.length], data: bias },
  ]);

const control: Case = { input: [1, 3, 2, 2], filter: [2, 3, 3, 2], padding: SAME, strides: [2, 2] };
const count = (shape: readonly number[]) => shape.reduce((product, extent) => product * extent, 1);
const give = (one: Case) =>
  [numbers(count(one.input), 1), numbers(count(one.filter), 2), numbers(one.filter[0], 3)] as const;

describe(customCode, () => {
  test.each<Case>([
    control,
    { ...control, padding: VALID },
    // As in segmentation: windows that do not overlap.
    { input: [1, 4, 4, 3], filter: [2, 2, 2, 3], padding: SAME, strides: [2, 2] },
    // Windows with gaps, in which there is the bias alone.
    { input: [2, 3, 3, 1], filter: [1, 1, 2, 1], padding: VALID, strides: [3, 4] },
    { input: [2, 3, 3, 1], filter: [3, 2, 1, 1], padding: SAME, strides: [3, 4] },
    { input: [1, 5, 4, 2], filter: [1, 5, 4, 2], padding: SAME, strides: [1, 2] },
    { input: [1, 1, 1, 1], filter: [1, 1, 1, 1], padding: SAME, strides: [1, 1] },
  ])("of %j", async (one) => {
    const [x, w, bias] = give(one);
    expect(await run(one, struct(one.padding, ...one.strides), x, w, bias)).toEqual(computeExpected(one, x, w, bias));
  });

  test("takes a struct with more fields", async () => {
    const [x, w, bias] = give(control);
    expect(await run(control, struct(SAME, 2, 2, 0, 0), x, w, bias)).toEqual(computeExpected(control, x, w, bias));
  });

  test.each([
    [{}, struct(SAME, 2), "the struct of padding, stride_width, stride_height has 12 bytes, here are 8"],
    [{}, struct(0, 2, 2), "the padding: expected 1 (SAME) or 2 (VALID), got 0"],
    [{}, struct(3, 2, 2), "the padding: expected 1 (SAME) or 2 (VALID), got 3"],
    [{}, struct(SAME, 0, 2), "stride_width: expected at least 1, got 0"],
    [{}, struct(SAME, 2, -1), "stride_height: expected at least 1, got -1"],
    [{ filter: [2, 3, 3, 1] as const }, struct(SAME, 2, 2), "the filter has 1 channels, the input 2"],
  ])("is refused: %j %j", async (change, options, message) => {
    const one = { ...control, ...change };
    const [x, w, bias] = give(one);
    await expect(run(one, options, x, w, bias)).rejects.toThrow(message);
  });

  test("is refused with a bias of another size, and of a later version", async () => {
    const [x, w] = give(control);
    await expect(run(control, struct(SAME, 2, 2), x, w, [1])).rejects.toThrow(
      "the bias has 1 elements, the filter 2 channels",
    );
    const late = { customCode, version: 2, options: struct(SAME, 2, 2) };
    const refused =
      "the options of the custom operator Convolution2DTransposeBias cannot be read: version 2 is not known, only 1 to 1";
    await expect(runOne(late, { shape: control.input, data: x }, [])).rejects.toThrow(refused);
  });
});
