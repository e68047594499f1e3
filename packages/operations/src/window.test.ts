import { describe, expect, it } from "vitest";
import { dilatedExtent, imageAxes, implicitPadding, PaddingScheme, windowCount } from "./window.ts";

const { NONE, SAME, VALID } = PaddingScheme;

describe("imageAxes", () => {
  it("names the axes of both layouts", () => {
    expect(imageAxes(false)).toEqual({ batch: 0, height: 1, width: 2, channel: 3 });
    expect(imageAxes(true)).toEqual({ batch: 0, channel: 1, height: 2, width: 3 });
  });
});

describe("dilatedExtent", () => {
  it("counts the cells between the filter's", () => {
    expect(dilatedExtent(3, 1)).toBe(3);
    expect(dilatedExtent(3, 2)).toBe(5);
    expect(dilatedExtent(1, 7)).toBe(1);
  });

  it("wants a dilation of at least 1", () => {
    expect(() => dilatedExtent(3, 0)).toThrow("dilation 0 is less than 1");
  });
});

describe("implicitPadding", () => {
  it("pads with SAME until there are ⌈input / stride⌉ windows, the odd one after", () => {
    expect(implicitPadding(SAME, 5, 1, 3)).toEqual([1, 1]);
    expect(implicitPadding(SAME, 5, 1, 2)).toEqual([0, 1]);
    expect(implicitPadding(SAME, 224, 2, 3)).toEqual([0, 1]);
    expect(implicitPadding(SAME, 4, 3, 6)).toEqual([2, 3]);
  });

  it("pads nothing if windows leave gaps, nor with NONE and VALID", () => {
    expect(implicitPadding(SAME, 5, 3, 1)).toEqual([0, 0]);
    expect(implicitPadding(NONE, 5, 1, 3)).toEqual([0, 0]);
    expect(implicitPadding(VALID, 5, 1, 3)).toEqual([0, 0]);
  });

  it("fits windowCount", () => {
    for (let input = 1; input < 12; input++) {
      for (let stride = 1; stride < 5; stride++) {
        for (let filter = 1; filter < 6; filter++) {
          const [before, after] = implicitPadding(SAME, input, stride, filter);
          expect(windowCount("width", input, filter, stride, before, after)).toBe(Math.ceil(input / stride));
        }
      }
    }
  });

  it("refuses other schemes and strides below 1", () => {
    expect(() => implicitPadding(-1, 5, 1, 3)).toThrow("padding scheme -1 is none of");
    expect(() => implicitPadding(3, 5, 1, 3)).toThrow("padding scheme 3 is none of");
    expect(() => implicitPadding(VALID, 5, 0, 3)).toThrow("stride 0 is less than 1");
  });
});

describe("windowCount", () => {
  it("counts the windows that fit", () => {
    expect(windowCount("width", 5, 3, 1, 0, 0)).toBe(3);
    expect(windowCount("width", 5, 3, 2, 0, 0)).toBe(2);
    expect(windowCount("width", 6, 3, 2, 0, 0)).toBe(2);
    expect(windowCount("width", 6, 3, 2, 0, 1)).toBe(3);
    expect(windowCount("width", 1, 3, 1, 2, 2)).toBe(3);
  });

  it.each([
    ["the image's width is 0, less than 1", [0, 3, 1, 2, 2]],
    ["the window's width is 0, less than 1", [5, 0, 1, 0, 0]],
    ["the stride along the width is 0, less than 1", [5, 3, 0, 0, 0]],
    ["padding -1 and 0 along the width is not within 0 to 2", [5, 3, 1, -1, 0]],
    ["padding 0 and -1 along the width is not within 0 to 2", [5, 3, 1, 0, -1]],
    ["padding 3 and 0 along the width is not within 0 to 2", [5, 3, 1, 3, 0]],
    ["padding 0 and 3 along the width is not within 0 to 2", [5, 3, 1, 0, 3]],
    ["a window of 3 does not fit the width of 2 with padding 0 and 0", [2, 3, 1, 0, 0]],
  ] as const)("says that %s", (message, [input, filter, stride, before, after]) => {
    expect(() => windowCount("width", input, filter, stride, before, after)).toThrow(message);
  });
});
