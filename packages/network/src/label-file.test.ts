import { describe, expect, it } from "vitest";
import { describeMisfit, labelLists, readLabelFile } from "./label-file.ts";

const bytes = (text: string) => new TextEncoder().encode(text);

describe("a file of labels", () => {
  it("has one a line, of which some may be empty", () => {
    expect(readLabelFile(bytes("\ufeffcat\r\n\r\ndog\n"), "a.txt")).toEqual({
      names: ["cat", "", "dog"],
      source: "a.txt",
    });
  });

  it.each([
    ["nothing", bytes(""), "a.txt is empty"],
    ["blanks alone", bytes(" \n\t\n"), "a.txt is empty"],
    ["a zero", bytes("cat\0dog"), "a.txt is not a text in UTF-8 with one label a line"],
    ["other letters", Uint8Array.of(0x63, 0xe9, 0x0a), "a.txt is not a text in UTF-8 with one label a line"],
    [
      "a picture",
      Uint8Array.of(0x89, 0x50, 0x4e, 0x47, 13, 10, 26, 10),
      "a.txt is a PNG picture, not a text in UTF-8 with one label a line",
    ],
  ])("is refused with %s", (_, content, message) => {
    expect(() => readLabelFile(content, "a.txt")).toThrow(message);
  });
});

describe("labels", () => {
  const labels = { names: ["cat", "dog"], source: "a.txt" };

  it.each([
    [{ classes: 2 }, undefined],
    [{ classes: 3 }, "a.txt has 2 labels, but the output has 3 classes"],
    [{ classes: undefined }, "a.txt has 2 labels, but no output holds scores of classes"],
    [{ indexes: [] }, undefined],
    [{ indexes: [0, 1] }, undefined],
    [{ indexes: [0, 2, 1] }, "a.txt has 2 labels, but there is a class 2"],
    [{ landmarks: 2 }, undefined],
    [{ landmarks: 17 }, "a.txt has 2 labels, but there are 17 landmarks"],
  ])("fit %j, or are said not to: %s", (labelled, expected) => {
    expect(describeMisfit(labels, labelled)).toBe(expected);
  });

  it("come with nnhal for COCO and PASCAL VOC", () => {
    expect(Object.values(labelLists).map(({ length }) => length)).toEqual([90, 80, 21]);
  });
});
