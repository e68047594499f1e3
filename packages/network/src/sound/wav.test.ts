import { describe, expect, it } from "vitest";
import { isWav, readWav } from "./wav.ts";

interface Parts {
  readonly tag?: number;
  readonly channels?: number;
  readonly rate?: number;
  readonly bits?: number;
  readonly data?: readonly number[];
}

const text = (value: string) => [...value].map((letter) => letter.charCodeAt(0));
const u16 = (value: number) => [value & 255, value >> 8];
const u32 = (value: number) => [...u16(value & 0xffff), ...u16(value >>> 16)];
const chunk = (name: string, data: readonly number[], size = data.length) => [
  ...text(name),
  ...u32(size),
  ...data,
  ...(data.length % 2 === 1 ? [0] : []),
];

function formatOf({ tag = 1, channels = 1, rate = 16000, bits = 16 }: Parts): number[] {
  const bytes = (bits / 8) * channels;
  return [...u16(tag), ...u16(channels), ...u32(rate), ...u32(rate * bytes), ...u16(bytes), ...u16(bits)];
}

function wav(...chunks: readonly (readonly number[])[]): Uint8Array {
  const body = chunks.flat();
  return Uint8Array.from([...text("RIFF"), ...u32(body.length + 4), ...text("WAVE"), ...body]);
}

const wavOf = (parts: Parts) => wav(chunk("fmt ", formatOf(parts)), chunk("data", parts.data ?? []));
const bytesOf = (...numbers: readonly number[]) => [...new Uint8Array(Float32Array.from(numbers).buffer)];

describe("a WAV file", () => {
  it("is read in each format, its channels averaged", () => {
    const samples = (parts: Parts) => [...readWav(wavOf(parts)).samples];
    expect(samples({ data: [0, 0x80, 0, 0x40, 0xff, 0x7f] })).toEqual([-1, 0.5, Math.fround(32767 / 32768)]);
    expect(samples({ bits: 8, data: [0, 128, 192] })).toEqual([-1, 0, 0.5]);
    expect(samples({ bits: 24, data: [0, 0, 0x80, 0, 0, 0x40, 1, 0, 0] })).toEqual([-1, 0.5, Math.fround(1 / 2 ** 23)]);
    expect(samples({ bits: 32, data: [0, 0, 0, 0x80, 0, 0, 0, 0x40] })).toEqual([-1, 0.5]);
    expect(samples({ tag: 3, bits: 32, data: bytesOf(0.25, -2) })).toEqual([0.25, -2]);
    expect(samples({ channels: 2, tag: 3, bits: 32, data: bytesOf(0.25, 0.75) })).toEqual([0.5]);
    const extensible = [...formatOf({ tag: 0xfffe }), ...u16(22), ...u16(16), ...u32(4), ...u16(1), ...u32(0)];
    expect([...readWav(wav(chunk("fmt ", extensible), chunk("data", [0, 0x40]))).samples]).toEqual([0.5]);
    expect(readWav(wavOf({ rate: 8000 })).rate).toBe(8000);
  });

  it("has other chunks, of odd sizes too, and data that is cut off", () => {
    const more = wav(chunk("LIST", [1, 2, 3]), chunk("fmt ", formatOf({})), chunk("data", [0, 0x40, 9], 1000));
    expect([...readWav(more).samples]).toEqual([0.5, Math.fround(9 / 32768)]);
  });

  it.each([
    ["another file", Uint8Array.from(text("RIFFxxxxAVI ")), "is not a WAV file"],
    ["no samples", wav(chunk("fmt ", formatOf({}))), "without samples"],
    ["samples first", wav(chunk("data", [0, 0])), "come before their format"],
    ["a format cut off", wav(chunk("fmt ", formatOf({}).slice(2))), "is cut off"],
    ["a format beyond the file", wav(chunk("fmt ", formatOf({}), 40)), "is cut off"],
    ["no channels", wavOf({ channels: 0 }), "of 0 channels"],
    ["no rate", wavOf({ rate: 0 }), "at 0 Hz"],
    ["another format", wavOf({ tag: 2 }), "of the format 2 with 16 bits"],
    ["another width", wavOf({ bits: 12 }), "of the format 1 with 12 bits"],
  ])("is refused with %s", (_, bytes, said) => {
    expect(() => readWav(bytes)).toThrow(RangeError);
    expect(() => readWav(bytes)).toThrow(said);
  });

  it("is recognised by its first bytes", () => {
    expect([isWav(wavOf({})), isWav(new Uint8Array(0)), isWav(Uint8Array.from(text("RIFF")))]).toEqual([
      true,
      false,
      false,
    ]);
  });
});
