import { factsByCode } from "@nnhal/operations";
import { ErrorStatus, type IBuffer, type Outcome } from "@nnhal/types";
import { describe, expect, it } from "vitest";
import { float32 } from "../models.test-helper.ts";
import { chain } from "./divided.test-helper.ts";
import { canRunElsewhere, runElsewhere } from "./elsewhere.ts";
import type { Place } from "./place.ts";

/** A buffer of a device that records the extents of the values written to it. */
function makeNoting() {
  const written: (readonly number[])[] = [];
  const done: Outcome = { status: ErrorStatus.NONE };
  const buffer: IBuffer = {
    copyTo: async () => done,
    async copyFrom(_memory, dimensions) {
      written.push(dimensions);
      return done;
    },
    close() {},
  };
  return { written, buffer };
}

const placeIn = (buffer?: IBuffer, dimensions = [2]): Place => ({
  pool: { kind: "token", token: 1 },
  offset: 0,
  length: 0,
  dimensions,
  ...(buffer && { buffer }),
});

const hal = { main: chain().hal.main, factsOf: factsByCode([], []) };

describe("running elsewhere", () => {
  it("copies results to devices' buffers with the shapes that were found", async () => {
    const { written, buffer } = makeNoting();
    const shape = { dimensions: [2], isSufficient: true };
    const result = { status: ErrorStatus.NONE, outputShapes: [shape] };
    const args = { inputs: [placeIn(makeNoting().buffer)], outputs: [placeIn(buffer)] };
    const requests: unknown[] = [];
    const outcome = await runElsewhere(hal, args, async (request) => {
      requests.push(request);
      return result;
    });
    expect(outcome).toBe(result);
    expect(written).toEqual([[2]]);
    const inMemory = { hasNoValue: false, location: { offset: 0, length: 8 }, dimensions: [2] };
    expect(requests).toMatchObject([{ inputs: [inMemory], outputs: [inMemory] }]);
  });

  it("fails where the shape of a result is missing, and leaves the buffer as it was", async () => {
    const { written, buffer } = makeNoting();
    const args = { inputs: [placeIn(makeNoting().buffer)], outputs: [placeIn(buffer)] };
    const outcome = await runElsewhere(hal, args, async () => ({ status: ErrorStatus.NONE, outputShapes: [] }));
    expect(outcome).toMatchObject({
      status: ErrorStatus.GENERAL_FAILURE,
      message: expect.stringContaining("without a shape of output 0"),
      outputShapes: [],
    });
    expect(written).toEqual([]);
  });

  it("needs every buffer, and every size", () => {
    const inBuffer = placeIn(makeNoting().buffer);
    expect(canRunElsewhere(hal, { inputs: [inBuffer], outputs: [inBuffer] })).toBe(true);
    expect(canRunElsewhere(hal, { inputs: [undefined], outputs: [inBuffer] })).toBe(true);
    expect(canRunElsewhere(hal, { inputs: [placeIn()], outputs: [inBuffer] })).toBe(false);
    expect(canRunElsewhere(hal, { inputs: [inBuffer], outputs: [placeIn()] })).toBe(false);
    const unknown = { ...hal, main: chain(float32(0)).hal.main };
    const unsized = placeIn(makeNoting().buffer, []);
    expect(canRunElsewhere(unknown, { inputs: [inBuffer], outputs: [unsized] })).toBe(false);
    expect(canRunElsewhere(unknown, { inputs: [inBuffer], outputs: [inBuffer] })).toBe(true);
  });
});
