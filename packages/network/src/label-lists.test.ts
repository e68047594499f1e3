import { expect, it } from "vitest";
import { coco80Labels, cocoLabels, pascalVocLabels } from "./label-lists.ts";

it("lists have as many names as their data sets, each once", () => {
  expect([coco80Labels.length, cocoLabels.length, pascalVocLabels.length]).toEqual([80, 90, 21]);
  for (const list of [coco80Labels, pascalVocLabels]) expect(new Set(list).size).toBe(list.length);
  expect(cocoLabels.filter((name) => name === "???")).toHaveLength(10);
});

// Numbers as the data sets publish them; those of COCO are from 1.
it.each([
  [1, "person"],
  [11, "fire hydrant"],
  [13, "stop sign"],
  [25, "giraffe"],
  [27, "backpack"],
  [31, "handbag"],
  [44, "bottle"],
  [46, "wine glass"],
  [65, "bed"],
  [67, "dining table"],
  [70, "toilet"],
  [72, "tv"],
  [82, "refrigerator"],
  [84, "book"],
  [90, "toothbrush"],
])("number %i of COCO is %s", (number, name) => {
  expect(cocoLabels[number - 1]).toBe(name);
});

it.each([
  [0, "background"],
  [8, "cat"],
  [15, "person"],
  [20, "tv"],
])("number %i of PASCAL VOC is %s", (number, name) => {
  expect(pascalVocLabels[number]).toBe(name);
});
