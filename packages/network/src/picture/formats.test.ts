/** GIF, WebP and EXIF. */
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import encodeWebp, { init } from "@jsquash/webp/encode.js";
import { elementAt } from "@nnhal/operations";
import jpeg from "jpeg-js";
import { beforeAll, describe, expect, it } from "vitest";
import { decodePicture } from "./decode.ts";
import { jpegOrientation, type Orientation, upright, webpOrientation } from "./exif.ts";
import type { Picture } from "./picture.ts";

const text = (letters: string) => [...letters].map((letter) => letter.charCodeAt(0));
const short = (value: number) => [value & 255, value >> 8];
const red = [255, 0, 0];
const green = [0, 255, 0];
const blue = [0, 0, 255];
const white = [255, 255, 255];

/** Bits of codes, least first, in one block. */
function blocks(least: number, codes: readonly (readonly [code: number, bits: number])[]): number[] {
  let all = 0n;
  let place = 0n;
  for (const [code, bits] of codes) {
    all |= BigInt(code) << place;
    place += BigInt(bits);
  }
  const bytes: number[] = [];
  for (let at = 0n; at < place; at += 8n) bytes.push(Number((all >> at) & 255n));
  return [least, bytes.length, ...bytes, 0];
}

interface GifParts {
  readonly size?: readonly [number, number];
  readonly frame?: readonly [number, number, number, number];
  readonly flags?: number;
  readonly extension?: readonly number[];
  readonly data: readonly number[];
}

/** A GIF file with the colours red, green, blue and white. */
function gif({ size = [2, 2], frame = [0, 0, ...size], flags = 0, extension = [], data }: GifParts): Uint8Array {
  return Uint8Array.from([
    ...text("GIF89a"),
    ...size.flatMap(short),
    ...[0x81, 0, 0],
    ...[red, green, blue, white].flat(),
    ...extension,
    0x2c,
    ...frame.flatMap(short),
    flags,
    ...data,
    0x3b,
  ]);
}

// Codes begin with 3 bits: 0 to 3 are colours, 4 clears, 5 ends.
const redGreenBlueWhite = blocks(2, [
  [4, 3],
  [0, 3],
  [1, 3],
  [2, 4 - 1],
  [3, 4],
  [5, 4],
]);
const pixels = async (bytes: Uint8Array) => [...(await decodePicture(bytes)).data];

describe("GIF", () => {
  it("is read by its first frame", async () => {
    expect(await pixels(gif({ data: redGreenBlueWhite }))).toEqual([...red, ...green, ...blue, ...white]);
  });

  it("unpacks codes that are made of others, also of themselves", async () => {
    // 0, then 6 (0 0, being defined), then 6 again: five pixels.
    const data = blocks(2, [
      [4, 3],
      [0, 3],
      [6, 3],
      [6, 4 - 1],
      [5, 4],
    ]);
    expect(await pixels(gif({ size: [5, 1], data }))).toEqual(Array(5).fill(red).flat());
  });

  it("puts a smaller frame in its place, with white around it and for what is transparent", async () => {
    const extension = [0x21, 0xf9, 4, 1, 0, 0, 1, 0];
    const data = blocks(2, [
      [4, 3],
      [0, 3],
      [1, 3],
      [5, 3],
    ]);
    expect(await pixels(gif({ size: [2, 2], frame: [0, 1, 2, 1], extension, data }))).toEqual([
      ...white,
      ...white,
      ...red,
      ...white,
    ]);
  });

  it("puts interlaced rows where they belong", async () => {
    const data = blocks(2, [
      [4, 3],
      [0, 3],
      [1, 3],
      [2, 3],
      [5, 4],
    ]);
    expect(await pixels(gif({ size: [1, 3], flags: 0x40, data }))).toEqual([...red, ...blue, ...green]);
  });

  it.each([
    ["is larger than 2 x 2", { frame: [1, 0, 2, 2], data: redGreenBlueWhite }],
    [
      "its pixels end after 2 of 4",
      {
        data: blocks(2, [
          [4, 3],
          [0, 3],
          [1, 3],
          [5, 3],
        ]),
      },
    ],
    [
      "which is not defined yet",
      {
        data: blocks(2, [
          [4, 3],
          [7, 3],
        ]),
      },
    ],
    ["its codes begin with 9 bits", { data: [9, 0] }],
    ["begins no part of a GIF file", { extension: [7], data: [] }],
    ["its size is 65535 x 65535, more than 100 megapixels", { size: [65535, 65535], data: [] }],
  ] as const)("is refused: %s", async (message, parts) => {
    await expect(decodePicture(gif(parts))).rejects.toThrow(message);
  });

  it("gives an answer wherever it is cut or changed", async () => {
    const file = gif({ data: redGreenBlueWhite });
    for (let at = 0; at < file.length; at++) {
      for (const bytes of [file.subarray(0, at), file.with(at, 255 - elementAt(file, at)), file.with(at, 255)]) {
        await decodePicture(bytes).catch((error: unknown) => expect(error).toBeInstanceOf(RangeError));
      }
    }
  });
});

describe("WebP", () => {
  let file: Uint8Array;
  beforeAll(async () => {
    const { resolve } = createRequire(import.meta.url);
    // The types of Node.js have no values of this name.
    const { WebAssembly: compiler } = globalThis as unknown as {
      WebAssembly: { compile(bytes: Uint8Array): Promise<never> };
    };
    await init(await compiler.compile(await readFile(resolve("@jsquash/webp/codec/enc/webp_enc.wasm"))));
    const data = Uint8ClampedArray.from([...red, 255, ...green, 255, ...blue, 255, 0, 0, 0, 0]);
    file = new Uint8Array(
      await encodeWebp({ width: 2, height: 2, data, colorSpace: "srgb" } as never, { lossless: 1 }),
    );
  });

  it("is read, with white for what is transparent", async () => {
    expect(await decodePicture(file)).toMatchObject({ width: 2, height: 2 });
    expect(await pixels(file)).toEqual([...red, ...green, ...blue, ...white]);
  });

  /** An animation of 4 x 2 whose first frame is the file at 2, 0. */
  const animation = (frame: Uint8Array, size = [1, 0, 0, 1, 0, 0]) => {
    const part = (name: string, data: readonly number[]) => [...text(name), ...short(data.length), 0, 0, ...data];
    const pixels = [...frame.subarray(12)];
    const frames = part("ANMF", [1, 0, 0, 0, 0, 0, ...size, 0, 0, 0, 0, ...pixels]);
    const parts = [...part("VP8X", [2, 0, 0, 0, 3, 0, 0, 1, 0, 0]), ...part("ANIM", [0, 0, 0, 0, 0, 0]), ...frames];
    return Uint8Array.from([...text("RIFF"), ...short(parts.length + 4), 0, 0, ...text("WEBP"), ...parts, ...frames]);
  };

  it("is read by the first frame of an animation, in its place, with white around it", async () => {
    expect(await decodePicture(animation(file))).toMatchObject({ width: 4, height: 2 });
    const rows = [
      [...white, ...white, ...red, ...green],
      [...white, ...white, ...blue, ...white],
    ];
    expect(await pixels(animation(file))).toEqual(rows.flat());
  });

  it.each([
    ["is an animation without a frame", (bytes: Uint8Array) => bytes.subarray(0, 44)],
    ["has no pixels", (bytes: Uint8Array) => bytes.with(bytes.indexOf(0x4c, 60), 0x4d)],
    ["has pixels of 2 x 2", () => animation(file, [0, 0, 0, 1, 0, 0])],
    ["is larger than 4 x 2", () => animation(file, [2, 0, 0, 1, 0, 0])],
  ] as const)("of an animation is refused: %s", async (message, broken) => {
    await expect(decodePicture(broken(animation(file)))).rejects.toThrow(message);
  });

  it("of an animation gives an answer wherever it is cut or changed", async () => {
    const whole = animation(file);
    for (let at = 12; at < whole.length; at += 3) {
      for (const bytes of [whole.subarray(0, at), whole.with(at, 255 - elementAt(whole, at))])
        await decodePicture(bytes).catch((error: unknown) => expect(error).toBeInstanceOf(RangeError));
    }
  });

  it("is refused if it is too large, before memory is taken, or broken", async () => {
    const large = Uint8Array.from([
      ...text("RIFF"),
      0,
      0,
      0,
      0,
      ...text("WEBPVP8X"),
      10,
      0,
      0,
      0,
      0,
      0,
      0,
      0,
      255,
      63,
      0,
      255,
      63,
      0,
    ]);
    await expect(decodePicture(large)).rejects.toThrow("its size is 16384 x 16384, more than 100 megapixels");
    for (const length of [12, 20, 29, 31]) {
      await expect(decodePicture(file.subarray(0, length))).rejects.toThrow("is a WebP picture that cannot be read");
    }
  });
});

/** EXIF data with an orientation, in either order of bytes. */
function exif(value: number, isLittle = true): number[] {
  const order = (bytes: readonly number[]) => (isLittle ? bytes : [...bytes].reverse());
  const [two, four] = [(n: number) => order([n, 0]), (n: number) => order([n, 0, 0, 0])];
  const entry = [...order([0x12, 0x01]), ...two(3), ...four(1), ...two(value), 0, 0];
  return [...text(isLittle ? "II" : "MM"), ...two(42), ...four(8), ...two(1), ...entry, 0, 0, 0, 0];
}

function jpegWith(data: readonly number[], pixels = Buffer.alloc(8 * 16 * 4, 255)): Uint8Array {
  const file = new Uint8Array(jpeg.encode({ width: 8, height: 16, data: pixels }, 90).data);
  const block = [...text("Exif"), 0, 0, ...data];
  return Uint8Array.from([0xff, 0xd8, 0xff, 0xe1, 0, block.length + 2, ...block, ...file.subarray(2)]);
}

describe("the orientation", () => {
  it("is read from JPEG and WebP, in both orders of bytes", () => {
    for (const value of [1, 3, 6, 8]) {
      expect(jpegOrientation(jpegWith(exif(value)))).toBe(value);
      expect(jpegOrientation(jpegWith(exif(value, false)))).toBe(value);
      const data = exif(value);
      const riff = [...text("RIFF"), 0, 0, 0, 0, ...text("WEBP"), ...text("ABC "), 1, 0, 0, 0, 9, 0];
      expect(webpOrientation(Uint8Array.from([...riff, ...text("EXIF"), data.length, 0, 0, 0, ...data]))).toBe(value);
    }
  });

  it("is 1 if there is none, or one that is not valid or broken", () => {
    expect(jpegOrientation(jpegWith([]))).toBe(1);
    expect(jpegOrientation(jpegWith(exif(9)))).toBe(1);
    expect(jpegOrientation(jpegWith(exif(0)))).toBe(1);
    const file = jpegWith(exif(6));
    for (let length = 0; length < 60; length++) expect([1, 6]).toContain(jpegOrientation(file.subarray(0, length)));
  });

  it.each([
    [1, "ab cd ef"],
    [2, "ba dc fe"],
    [3, "fe dc ba"],
    [4, "ef cd ab"],
    [5, "ace bdf"],
    [6, "eca fdb"],
    [7, "fdb eca"],
    [8, "bdf ace"],
  ] as const)("%i turns ab cd ef to %s", (orientation, rows) => {
    const stored: Picture = {
      width: 2,
      height: 3,
      data: Uint8Array.from(text("abcdef").flatMap((letter) => [letter, 0, 0])),
    };
    const seen = upright(stored, orientation as Orientation);
    const letters = [...seen.data].filter((_, place) => place % 3 === 0).map((code) => String.fromCharCode(code));
    const lines = Array.from({ length: seen.height }, (_, y) =>
      letters.slice(y * seen.width, (y + 1) * seen.width).join(""),
    );
    expect(lines.join(" ")).toBe(rows);
  });

  it("turns a JPEG file upright", async () => {
    expect(await decodePicture(jpegWith(exif(6)))).toMatchObject({ width: 16, height: 8 });
    expect(await decodePicture(jpegWith(exif(1)))).toMatchObject({ width: 8, height: 16 });
  });
});
