import type { TensorInfo } from "@nnhal/network";
import { describe, expect, it } from "vitest";
import { inputFor, isLabelFile, isModelFile, pictureSize, soundLength, takesText } from "./input-kinds.ts";

const info = (shape: readonly number[], more: Partial<TensorInfo> = {}): TensorInfo => ({
  ...{ name: shape.join("x"), otherNames: [], type: "float32", shape },
  ...more,
});
const bytes = (text: string) => Uint8Array.from(text, (letter) => letter.charCodeAt(0));

describe("an input", () => {
  it("takes a picture if it has one or three channels, first or last", () => {
    expect(pictureSize(info([1, 20, 30, 3]))).toEqual({ width: 30, height: 20 });
    expect(pictureSize(info([1, 1, 20, 30]))).toEqual({ width: 30, height: 20 });
    expect(pictureSize(info([1, 0, 0, 3]))).toEqual({ width: 224, height: 224 });
    expect(pictureSize(info([1, 20, 30, 2]))).toBeUndefined();
    expect(pictureSize(info([20, 30, 3]))).toBeUndefined();
    expect(pictureSize(info([1, 20, 30, 3], { type: "string" }))).toBeUndefined();
  });

  it("takes a sound of a quarter of a second to 32,768 samples", () => {
    expect([3999, 4000, 32_768, 32_769].map((count) => soundLength(info([1, count])))).toEqual([
      undefined,
      4000,
      32_768,
      undefined,
    ]);
    expect(soundLength(info([2, 4000]))).toBeUndefined();
    expect(soundLength(info([4000], { type: "int32" }))).toBeUndefined();
  });

  it("takes a part of a text if it has strings, or tokens", () => {
    const tokens = info([1, 8], { tokenizer: { kind: "bert", vocabulary: new Uint8Array(0) } });
    const strings = info([1], { type: "string" });
    expect([[tokens], [tokens, tokens], [strings]].map(takesText)).toEqual([true, true, true]);
    expect([[], [info([1, 8])], [tokens, info([1, 8])]].map(takesText)).toEqual([false, false, false]);
  });
});

describe("a dropped file", () => {
  const [numbers, sound, picture] = [info([1, 8]), info([1, 16_000]), info([1, 20, 30, 3])];
  const all = [numbers, sound, picture];

  it.each([
    ["PNG", "\x89PNG\r\n", picture],
    ["JPEG", "\xff\xd8\xff\xe0", picture],
    ["BMP", "BM", picture],
    ["GIF", "GIF89a", picture],
    ["WebP", "RIFF\0\n\0\0WEBP", picture],
    ["WAV", "RIFF\0\n\0\0WAVE", sound],
    ["other", "\x93NUMPY", numbers],
    ["empty", "", numbers],
  ])("of the kind %s goes to the input that takes it", (_, start, wanted) => {
    expect(inputFor(bytes(start), all)).toBe(wanted);
  });

  it("goes to the first input if none takes its kind", () => {
    expect(inputFor(bytes("\x89PNG"), [numbers, sound])).toBe(numbers);
    expect(inputFor(bytes("\x89PNG"), [])).toBeUndefined();
  });

  it("names classes if it is a text with words, and the network takes none", () => {
    const text = bytes("cat\ndog\n");
    expect(isLabelFile("labels.TXT", text, [picture])).toBe(true);
    expect(isLabelFile("labels.csv", text, [picture])).toBe(false);
    expect(isLabelFile("numbers.txt", bytes("1 2\n3"), [numbers])).toBe(false);
    expect(isLabelFile("empty.txt", bytes(""), [picture])).toBe(false);
    expect(isLabelFile("labels.txt", text, [numbers, info([1], { type: "string" })])).toBe(false);
    const tokens = info([1, 8], { tokenizer: { kind: "bert", vocabulary: new Uint8Array(0) } });
    expect(isLabelFile("labels.txt", text, [tokens])).toBe(false);
  });

  it("is a network by its name or its first bytes", () => {
    expect(isModelFile("a.TFLITE", bytes(""))).toBe(true);
    expect(isModelFile("a", bytes("\x1c\0\0\0TFL3"))).toBe(true);
    expect(isModelFile("a.png", bytes("\x89PNG"))).toBe(false);
  });
});
