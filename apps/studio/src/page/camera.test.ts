import { describe, expect, it } from "vitest";
import { centerCamera, fitCamera, LEAST_SCALE, MOST_SCALE, READABLE, startCamera, zoomCamera } from "./camera.ts";

const view = { width: 800, height: 600 };

describe("a camera", () => {
  it("shows all of a drawing, not larger than it is", () => {
    expect(fitCamera({ width: 100, height: 100 }, view)).toEqual({ scale: 1, left: 350, top: 250 });
    const { scale, left } = fitCamera({ width: 7520, height: 100 }, view);
    expect([scale, left]).toEqual([0.1, 24]);
  });

  it("shows the start of a large drawing in letters that can be read", () => {
    const large = { width: 10_000, height: 10_000 };
    expect(startCamera(large, view, { x: 100, y: 0 })).toEqual({ scale: READABLE, left: 24, top: 24 });
    expect(startCamera(large, view, { x: 5000, y: 100 })).toEqual({ scale: READABLE, left: -2600, top: -36 });
    // A long one of a few columns is in the middle.
    const long = { width: 200, height: 10_000 };
    expect(startCamera(long, view, { x: 100, y: 0 })).toEqual({ scale: READABLE, left: 340, top: 24 });
  });

  it("keeps the point under the pointer when the size changes, within its limits", () => {
    const camera = { scale: 1, left: 10, top: 20 };
    const zoomed = zoomCamera(camera, 2, 110, 220);
    expect([(110 - zoomed.left) / zoomed.scale, (220 - zoomed.top) / zoomed.scale]).toEqual([100, 200]);
    expect(zoomCamera(camera, 1e9, 0, 0).scale).toBe(MOST_SCALE);
    expect(zoomCamera(camera, 1e-9, 0, 0).scale).toBe(LEAST_SCALE);
  });

  it("brings a point to the middle, large enough to be read", () => {
    expect(centerCamera({ scale: 0.1, left: 0, top: 0 }, view, 100, 50)).toEqual({
      scale: READABLE,
      left: 400 - 100 * READABLE,
      top: 300 - 50 * READABLE,
    });
  });
});
