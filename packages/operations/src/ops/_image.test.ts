import { describe, expect, it } from "vitest";
import { runToEnd } from "../phases.ts";
import { type Image, imageDimensions, imageLayout, readImage } from "./_image.ts";
import { f32, q8, q8s } from "./_run.test-helper.ts";

/** An image whose elements are there. */
function fill(image: ReturnType<typeof readImage>): Image {
  const { phases, ...read } = image;
  runToEnd(phases);
  return read;
}

describe("imageLayout", () => {
  it("tells extents and steps of both layouts", () => {
    const extents = { batches: 2, height: 3, width: 4, channels: 5, batchStep: 60 };
    expect(imageLayout([2, 3, 4, 5], false)).toEqual({ ...extents, rowStep: 20, pixelStep: 5, channelStep: 1 });
    expect(imageLayout([2, 5, 3, 4], true)).toEqual({ ...extents, rowStep: 4, pixelStep: 1, channelStep: 12 });
  });

  it("is the input of imageDimensions", () => {
    for (const nchw of [false, true]) {
      expect(imageDimensions(imageLayout([2, 3, 4, 5], nchw), nchw)).toEqual([2, 3, 4, 5]);
    }
  });
});

describe("readImage", () => {
  it("returns NHWC from either layout", () => {
    const plain = fill(readImage(f32([2, 1, 2, 2], [1, 2, 3, 4, 5, 6, 7, 8]), false));
    const turned = fill(readImage(f32([2, 2, 1, 2], [1, 3, 2, 4, 5, 7, 6, 8]), true));
    expect(turned).toEqual(plain);
    expect(Array.from(plain.data)).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
    expect(turned).toMatchObject({ batches: 2, height: 1, width: 2, channels: 2, pixelStep: 2, channelStep: 1 });
  });

  it("takes the zero point away", () => {
    expect(Array.from(fill(readImage(q8([1, 1, 1, 3], 0.5, 100, [0, 100, 255]), false)).data)).toEqual([-100, 0, 155]);
    expect(Array.from(fill(readImage(q8s([1, 3, 1, 1], 0.5, -28, [-128, -28, 127]), true)).data)).toEqual([
      -100, 0, 155,
    ]);
  });
});
