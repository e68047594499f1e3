/** MaxPoolingWithArgmax2D, and MaxUnpooling2D, which takes its indices. */
import { describe, expect, test } from "vitest";
import { fileOf, numbers, runFile, struct } from "./_run.test-helper.ts";

const [SAME, VALID] = [1, 2];

/** Padding, then width and height of the stride and of the window, then the activation. */
type Options = readonly [number, number, number, number, number, number];

async function pool(shape: readonly number[], x: readonly number[], options: Uint8Array, version = 1) {
  const operator = { customCode: "MaxPoolingWithArgmax2D", version, options, inputs: ["x"], outputs: ["y", "i"] };
  const one = [1, 1, 1, 1];
  const { y, i } = await runFile(
    fileOf({ x: { shape }, y: { shape: one }, i: { shape: one } }, [operator], ["y", "i"]),
    { x },
  );
  return {
    shape: y?.shape ?? [],
    values: Array.from(y?.data ?? [], Number),
    indices: Array.from(i?.data ?? [], Number),
  };
}

async function unpool(
  shape: readonly number[],
  x: readonly number[],
  indices: readonly number[],
  options: Uint8Array,
  of = shape,
) {
  const operator = { customCode: "MaxUnpooling2D", options, inputs: ["x", "i"], outputs: ["y"] };
  const file = fileOf({ x: { shape }, i: { shape: of }, y: { shape: [1, 1, 1, 1] } }, [operator], ["y"]);
  const { y } = await runFile(file, { x, i: indices });
  return { shape: y?.shape ?? [], values: Array.from(y?.data ?? [], Number) };
}

/** By the definition, for an image of one channel: the elements of each window in order, with their indexes. */
function expectedPool([height, width]: readonly [number, number], x: readonly number[], options: Options) {
  const [padding, strideX, strideY, filterX, filterY] = options;
  const count = (extent: number, filter: number, stride: number) =>
    padding === SAME ? Math.ceil(extent / stride) : Math.ceil((extent - filter + 1) / stride);
  const [rows, columns] = [count(height, filterY, strideY), count(width, filterX, strideX)];
  const before = (extent: number, filter: number, stride: number, windows: number) =>
    Math.max(0, ((windows - 1) * stride + filter - extent) >> 1);
  const [top, left] = [before(height, filterY, strideY, rows), before(width, filterX, strideX, columns)];
  const windows = Array.from({ length: rows * columns }, (_, window) =>
    Array.from({ length: filterX * filterY }, (_, index) => {
      const row = Math.floor(window / columns) * strideY - top + Math.floor(index / filterX);
      const column = (window % columns) * strideX - left + (index % filterX);
      const isInside = row >= 0 && row < height && column >= 0 && column < width;
      return isInside ? (x[row * width + column] ?? 0) : -Infinity;
    }),
  );
  const values = windows.map((window) => Math.max(...window));
  const indices = windows.map((window, at) => Math.fround(window.indexOf(values[at] ?? 0) + Math.fround(0.1)));
  return { shape: [1, rows, columns, 1], values, indices };
}

describe("MaxPoolingWithArgmax2D", () => {
  test.each<[readonly [number, number], Options]>([
    [
      [4, 4],
      [SAME, 2, 2, 2, 2, 0],
    ],
    [
      [5, 4],
      [SAME, 2, 2, 3, 2, 0],
    ],
    [
      [5, 4],
      [VALID, 2, 1, 3, 2, 0],
    ],
    [
      [3, 7],
      [SAME, 3, 1, 2, 5, 0],
    ],
    [
      [3, 3],
      [VALID, 1, 1, 3, 3, 0],
    ],
  ])("of %j with %j", async (size, options) => {
    const x = numbers(size[0] * size[1], 5);
    expect(await pool([1, ...size, 1], x, struct(...options))).toEqual(expectedPool(size, x, options));
  });

  test("has batches and channels, takes the first of equals, and a struct with what a kernel adds", async () => {
    const x = [1, 8, 1, 7, 0, 6, 1, 5, -2, 3, -1, 3, -4, 3, -1, 3];
    expect(await pool([2, 2, 2, 2], x, struct(SAME, 2, 2, 2, 2, 0, 0, 0, 0, 0))).toEqual({
      shape: [2, 1, 1, 2],
      values: [1, 8, -1, 3],
      indices: [0, 0, 1, 0].map((index) => Math.fround(index + Math.fround(0.1))),
    });
  });

  test.each([
    [0, [-4, 9]],
    [1, [0, 9]],
    [2, [-1, 1]],
    [3, [0, 6]],
  ])("with the activation %i", async (activation, values) => {
    expect((await pool([1, 1, 2, 1], [-4, 9], struct(SAME, 1, 1, 1, 1, activation))).values).toEqual(values);
  });

  test("of nothing greater than the least finite number is that number", async () => {
    const least = -(2 - 2 ** -23) * 2 ** 127;
    const { values, indices } = await pool([1, 1, 3, 1], [NaN, -Infinity, 2], struct(VALID, 1, 1, 2, 1, 0));
    expect(values).toEqual([least, 2]);
    expect(indices.map(Math.trunc)).toEqual([0, 1]);
  });

  test.each([
    [struct(SAME, 1, 1, 1, 1), "has 24 bytes, here are 20"],
    [struct(0, 1, 1, 1, 1, 0), "the padding: expected 1 (SAME) or 2 (VALID), got 0"],
    [struct(SAME, 0, 1, 1, 1, 0), "stride_width: expected at least 1, got 0"],
    [struct(SAME, 1, 0, 1, 1, 0), "stride_height: expected at least 1, got 0"],
    [struct(SAME, 1, 1, 0, 1, 0), "filter_width: expected at least 1, got 0"],
    [struct(SAME, 1, 1, 1, 0, 0), "filter_height: expected at least 1, got 0"],
    [struct(SAME, 1, 1, 1, 1, 4), "the activation: expected 0 to 3, got 4"],
    [struct(VALID, 1, 1, 3, 1, 0), "a window of 3 elements does not fit into 2"],
  ])("with %j is refused", async (options, message) => {
    await expect(pool([1, 1, 2, 1], [1, 2], options)).rejects.toThrow(message);
  });

  test("of a later version is refused", async () => {
    await expect(pool([1, 1, 2, 1], [1, 2], struct(SAME, 1, 1, 1, 1, 0), 2)).rejects.toThrow("version 2 is not known");
  });
});

describe("MaxUnpooling2D", () => {
  const options = struct(SAME, 2, 2, 2, 2, 0);

  test("puts elements where they were, among zeros", async () => {
    const x = numbers(2 * 4 * 6 * 3, 7);
    const pooled = await pool([2, 4, 6, 3], x, options);
    const { shape, values } = await unpool(pooled.shape, pooled.values, pooled.indices, options);
    expect(shape).toEqual([2, 4, 6, 3]);
    // Of each window the greatest element is left; equal ones are put at the first place.
    const greatest = (at: number) => {
      const [channel, column, row, batch] = [
        at % 3,
        Math.floor(at / 3) % 6,
        Math.floor(at / 18) % 4,
        Math.floor(at / 72),
      ];
      const corner = ((batch * 4 + (row & ~1)) * 6 + (column & ~1)) * 3 + channel;
      const window = [corner, corner + 3, corner + 18, corner + 21];
      const most = Math.max(...window.map((place) => x[place] ?? 0));
      return window.find((place) => x[place] === most) === at ? most : 0;
    };
    expect(values).toEqual(x.map((_, at) => greatest(at)));
  });

  test("ignores indices of places outside of the result, and cuts fractions off", async () => {
    const x = [1, 2, 3, 4, 5, 6, 7];
    // Windows lie beside each other: index 3 of the first is in the second row.
    const { shape, values } = await unpool([1, 1, 7, 1], x, [3.9, -1, -0.5, NaN, 4, Infinity, 1.1], options);
    expect(shape).toEqual([1, 2, 14, 1]);
    const wanted = new Array<number>(28).fill(0);
    [wanted[14 + 1], wanted[4], wanted[13]] = [1, 3, 7];
    // -1 is the element before the window.
    wanted[2 - 1] = 2;
    expect(values).toEqual(wanted);
  });

  test("has the padding of its strides, which overlap here", async () => {
    // Windows of 3 every 2 in a result of 9: none before the first. Every 4 there are (2 * 4 + 3 - 9) / 2 = 1 elements before it.
    expect((await unpool([1, 1, 3, 1], [1, 2, 3], [2, 1, 2], struct(SAME, 2, 1, 3, 1, 0))).values).toEqual([
      0, 0, 1, 2, 0, 0, 3, 0, 0,
    ]);
    expect((await unpool([1, 1, 3, 1], [1, 2, 3], [0, 1, 2], struct(VALID, 4, 1, 3, 1, 0))).values).toEqual([
      0, 0, 0, 0, 2, 0, 0, 0, 0,
    ]);
  });

  test.each([
    [struct(SAME, 2, 2, 2, 2), "has 24 bytes, here are 20"],
    [struct(4, 2, 2, 2, 2, 0), "the padding: expected 1 (SAME) or 2 (VALID), got 4"],
    [struct(SAME, 2, 2, -2, 2, 0), "filter_width: expected at least 1, got -2"],
  ])("with %j is refused", async (given, message) => {
    await expect(unpool([1, 1, 1, 1], [1], [0], given)).rejects.toThrow(message);
  });

  test("with indices of another shape is refused", async () => {
    const refused = "the indices have the shape [1,1,2,1], the input [1,2,1,1]";
    await expect(unpool([1, 2, 1, 1], [1, 2], [0, 0], options, [1, 1, 2, 1])).rejects.toThrow(refused);
  });
});
