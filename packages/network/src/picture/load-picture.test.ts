import { readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { describe, expect, it } from "vitest";
import { encodeInput } from "../inputs.ts";
import { demoFolder } from "../models.test-helper.ts";
import type { TensorInfo } from "../tensor-info.ts";
import type { PictureLike } from "./like.ts";
import { type PictureSource, picture } from "./load-picture.ts";
import { pngOf } from "./png.test-helper.ts";
import { fitPicture } from "./resize.ts";

const info = (type: TensorInfo["type"], shape: readonly number[], more: Partial<TensorInfo> = {}): TensorInfo => ({
  name: "image",
  otherNames: [],
  type,
  shape,
  ...more,
});
const dot = (...rgb: number[]) => ({ width: 1, height: 1, data: Uint8Array.from(rgb) });
const floatsOf = async (value: PictureLike | PictureLike[], of: TensorInfo) => {
  const { bytes, shape } = await encodeInput(value, of, "the input");
  return { values: [...new Float32Array(bytes.slice().buffer)], shape };
};

describe("picture", () => {
  it("reads paths, URLs, bytes, Blobs and pixels", async () => {
    const file = join(demoFolder, "3-chalk.png");
    const bytes = new Uint8Array(readFileSync(file));
    const expected = await picture(file);
    expect(expected).toMatchObject({ width: 160, height: 160 });
    for (const source of [pathToFileURL(file), bytes, bytes.buffer, new Blob([bytes])]) {
      const { data, ...facts } = await picture(source);
      expect({ ...facts, data: null }).toEqual({ ...expected, data: null });
      expect(Buffer.compare(data, expected.data)).toBe(0);
    }
    const data = Uint8ClampedArray.of(1, 2, 3, 255, 0, 0, 0, 0);
    expect(await picture({ width: 2, height: 1, data })).toEqual({
      width: 2,
      height: 1,
      data: Uint8Array.of(1, 2, 3, 255, 255, 255),
    });
    expect(await picture({ width: 2, height: 1, data: Uint8Array.of(7, 8) })).toMatchObject({
      data: Uint8Array.of(7, 7, 7, 8, 8, 8),
    });
    expect(await picture(pngOf(1, 1, [9, 8, 7, 255]), { fit: "cover" })).toEqual({
      ...dot(9, 8, 7),
      use: { fit: "cover" },
    });
  });

  it.each([
    ["/no/such.png", "CANNOT_READ", "cannot read the picture /no/such.png: the file does not exist"],
    [join(demoFolder, "labels.txt"), "NOT_A_PICTURE", "is not a PNG, JPEG, WebP, GIF or BMP picture"],
    [new Uint8Array(3), "NOT_A_PICTURE", "the data is not a PNG"],
    [
      { width: 2, height: 2, data: new Uint8Array(5) },
      "WRONG_SIZE",
      "a picture of 2 x 2 has 4, 3 or 1 bytes for each pixel",
    ],
    [5, "WRONG_TYPE", "the picture is a number"],
    [{ width: 2, height: 2 }, "WRONG_TYPE", "the picture is an object of the class Object"],
  ])("refuses %j: %s", async (source, code, message) => {
    await expect(picture(source as PictureSource)).rejects.toMatchObject({
      name: "NetworkError",
      code,
      message: expect.stringContaining(message),
    });
  });

  it("refuses a fit that there is not", async () => {
    await expect(picture(dot(1, 2, 3), { fit: "crop" as "cover" })).rejects.toMatchObject({ code: "BAD_OPTION" });
  });
});

describe("a picture as an input", () => {
  it("is normalised as it says, else as the model says, else to -1 to 1", async () => {
    const input = info("float32", [1, 1, 1, 3]);
    const normalization = { mean: [0], std: [255] };
    expect((await floatsOf(dot(0, 128, 255), input)).values).toEqual([-1, 0, 127 / 128]);
    expect((await floatsOf(dot(0, 51, 255), { ...input, normalization })).values).toEqual([0, Math.fround(0.2), 1]);
    const use = { mean: [1, 2, 3], std: 2 };
    expect((await floatsOf({ ...dot(5, 6, 7), use }, { ...input, normalization })).values).toEqual([2, 2, 2]);
  });

  it("is pixels in quantised inputs, unless it says something else", async () => {
    const input = info("uint8", [1, 1, 1, 3], {
      quantization: { scale: 0.5, zeroPoint: 10 },
      normalization: { mean: [0], std: [1] },
    });
    expect([...(await encodeInput(dot(1, 2, 3), input, "the input")).bytes]).toEqual([1, 2, 3]);
    expect([...(await encodeInput({ ...dot(1, 2, 3), use: { mean: 0 } }, input, "the input")).bytes]).toEqual([
      12, 14, 16,
    ]);
  });

  it("fits planes, greys, and shapes without channels", async () => {
    const two = { width: 2, height: 1, data: Uint8Array.of(0, 128, 255, 128, 128, 128) };
    expect((await floatsOf(two, info("float32", [1, 3, 1, 2]))).values).toEqual([-1, 0, 0, 0, 127 / 128, 0]);
    const grey = Math.round(0.587 * 128 + 0.114 * 255);
    for (const shape of [
      [1, 1, 2, 1],
      [1, 1, 1, 2],
      [1, 1, 2],
    ]) {
      expect((await floatsOf(two, info("float32", shape))).values).toEqual([(grey - 128) / 128, 0]);
    }
  });

  it("comes in batches", async () => {
    const pair = [dot(128, 128, 128), dot(0, 0, 0)];
    const expected = [0, 0, 0, -1, -1, -1];
    expect(await floatsOf(pair, info("float32", [2, 1, 1, 3]))).toEqual({ values: expected, shape: [2, 1, 1, 3] });
    expect(await floatsOf(pair, info("float32", [0, 1, 1, 3]))).toEqual({ values: expected, shape: [2, 1, 1, 3] });
    expect(await floatsOf(dot(0, 0, 0), info("float32", [0, 1, 1, 3]))).toMatchObject({ shape: [1, 1, 1, 3] });
    await expect(floatsOf(pair, info("float32", [3, 1, 1, 3]))).rejects.toThrow("takes 3 pictures; 2 were given");
  });

  it.each([
    [info("float32", [1, 10]), {}, "WRONG_TYPE", "a picture needs the shape"],
    [info("bool", [1, 1, 1, 3]), {}, "WRONG_TYPE", "a picture is not made of true and false"],
    [info("int64", [1, 1, 1, 3]), {}, "WRONG_TYPE", "a picture needs float32"],
    [info("float32", [1, 1, 1, 3]), { mean: [1, 2] }, "BAD_OPTION", "mean has 2 numbers for 3 channels"],
    [info("float32", [1, 1, 1, 3]), { std: 0 }, "BAD_OPTION", "std is 0"],
  ])("is refused by %j with %j", async (of, use, code, message) => {
    await expect(floatsOf({ ...dot(1, 2, 3), use }, of)).rejects.toMatchObject({
      code,
      message: expect.stringContaining(message),
    });
  });

  it("is stretched, covers, or is contained", () => {
    // 1 2 3 4 in a row, each in all channels.
    const row = { width: 4, height: 1, data: Uint8Array.of(1, 2, 3, 4).map((n) => 10 * n) };
    const picture = { ...row, data: Uint8Array.from([...row.data].flatMap((n) => [n, n, n])) };
    const show = (use: PictureLike["use"]) =>
      [...fitPicture({ ...picture, use }, 2, 2).data].filter((_, at) => at % 3 === 0);
    expect(show({})).toEqual([15, 35, 15, 35]);
    // The middle: half of 2 and 3 each, once for each row.
    expect(show({ fit: "cover" })).toEqual([23, 28, 23, 28]);
    expect(show({ fit: "contain", background: [9, 9, 9] })).toEqual([15, 35, 9, 9]);
  });
});
