import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { AnyArgs } from "../params.ts";
import { STEPS_BETWEEN_PAUSES } from "../phases.ts";
import { computeLanes, type Pass } from "./_lanes.ts";
import { f32, i32, pausesOf, runInUnits } from "./_run.test-helper.ts";
import { argmax } from "./argmax.ts";
import { argmin } from "./argmin.ts";
import { l2Normalization } from "./l2-normalization.ts";
import { logSoftmax } from "./log-softmax.ts";
import { softmax } from "./softmax.ts";

const cost = 1 << 14;
/** Elements of the longest lane that is not cut. */
const whole = STEPS_BETWEEN_PAUSES / cost;

describe("computeLanes", () => {
  it.each([
    [whole, 3, 1],
    [whole + 1, 12, 2],
    [2 * whole, 12, 2],
    [2 * whole + 1, 18, 3],
  ])("computes 3 lanes of %i elements in two passes as %i units, of at most %i pieces", (length, units, pieces) => {
    const phase = computeLanes({ count: 3, length, step: 1 }, cost, [() => 0, () => 0]);
    expect(phase.units).toBe(units);
    expect(phase.cost).toBe((length * cost) / (pieces === 1 ? 1 : 2 * pieces));
    expect(phase.inTurn).toBe(pieces > 1);
  });

  it("goes over each lane in each pass once, from its first element to its last", () => {
    const extent = fc.integer({ min: 1, max: 4 });
    fc.assert(
      fc.property(extent, fc.integer({ min: 1, max: 5 * whole }), extent, extent, (outer, length, step, count) => {
        const seen: number[][] = [];
        const pass =
          (number: number): Pass =>
          ({ from, to, start, lane }, found) => {
            expect(found[number]).toBe(from === start ? undefined : from);
            if (from === start) seen.push([number, lane]);
            for (let at = from; at < to; at += step) seen[seen.length - 1]?.push(at);
            return to;
          };
        const passes = Array.from({ length: count }, (_, number) => pass(number));
        runInUnits(computeLanes({ count: outer * step, length, step }, cost, passes));
        const expected = Array.from({ length: outer * step }, (_, lane) => {
          const start = Math.floor(lane / step) * step * length + (lane % step);
          const elements = Array.from({ length }, (_, place) => start + place * step);
          return passes.map((_, number) => [number, lane, ...elements]);
        }).flat();
        const inOrder = seen.sort(([a, lane], [b, other]) => (lane ?? 0) - (other ?? 0) || (a ?? 0) - (b ?? 0));
        expect(inOrder).toEqual(expected);
      }),
    );
  });
});

describe("lanes that are longer than what is computed between two pauses", () => {
  const length = 150_001;
  const lanes = [0, 1].map((lane) =>
    Float32Array.from({ length }, (_, at) => 4 * Math.sin(12.9898 * (at + lane * length))),
  );
  /** Both lanes, beside each other. */
  const input = f32(
    [length, 2],
    Array.from({ length: 2 * length }, (_, at) => lanes[at % 2]?.[at >> 1] ?? 0),
  );
  const exponentialsOf = (lane: Float32Array) => {
    const greatest = lane.reduce((a, b) => Math.max(a, b));
    const exponentials = Array.from(lane, (x) => Math.exp((x - greatest) * 0.5));
    return { greatest, exponentials, sum: exponentials.reduce((a, b) => a + b, 0) };
  };
  const formulas = {
    SOFTMAX: [
      softmax,
      (lane: Float32Array) => {
        const { exponentials, sum } = exponentialsOf(lane);
        return exponentials.map((exponential) => exponential / sum);
      },
    ],
    LOG_SOFTMAX: [
      logSoftmax,
      (lane: Float32Array) => {
        const { greatest, sum } = exponentialsOf(lane);
        return Array.from(lane, (x) => (x - greatest) * 0.5 - Math.log(sum));
      },
    ],
    L2_NORMALIZATION: [
      l2Normalization,
      (lane: Float32Array) => {
        const size = Math.sqrt(lane.reduce((sum, x) => sum + x ** 2, 0));
        return Array.from(lane, (x) => x / size);
      },
    ],
    ARGMAX: [argmax, (lane: Float32Array) => [lane.indexOf(lane.reduce((a, b) => Math.max(a, b)))]],
    ARGMIN: [argmin, (lane: Float32Array) => [lane.indexOf(lane.reduce((a, b) => Math.min(a, b)))]],
  } as const;

  it.each(Object.entries(formulas))(
    "%s pauses within one, and has the result of its formula",
    (name, [operation, formula]) => {
      const args: AnyArgs = { input, beta: 0.5, axis: 0 };
      const results = lanes.map(formula);
      const count = results[0]?.length ?? 0;
      const output = name.startsWith("ARG") ? i32([2 * count]) : f32([2 * count]);
      const work = operation.reference?.(args, { output }, { random: Math.random });
      expect(pausesOf(work)).toBeGreaterThanOrEqual(2);
      const numbers = Array.from({ length: 2 * count }, (_, at) => results[at % 2]?.[at >> 1] ?? 0);
      expect(output.data).toEqual(
        output.data instanceof Float32Array ? Float32Array.from(numbers) : Int32Array.from(numbers),
      );
    },
  );

  it("SOFTMAX of 8-bit elements has the result of a short lane beside elements whose exponentials are 0", () => {
    const info = { type: "TENSOR_QUANT8_ASYMM", scale: 0.2, zeroPoint: 128 } as const;
    const run = (data: Uint8Array) => {
      const dimensions = [data.length];
      const input = { ...info, dimensions, data };
      const output = { ...input, scale: 1 / 256, zeroPoint: 0, data: new Uint8Array(data.length) };
      const args: AnyArgs = { input, beta: 1, axis: 0 };
      const work = softmax.reference?.(args, { output }, { random: Math.random });
      return { pauses: pausesOf(work), data: output.data };
    };
    const few = Uint8Array.from({ length: 50 }, (_, at) => 230 + (at % 20));
    const many = new Uint8Array(50 * 1001);
    few.forEach((element, at) => {
      many[1001 * at] = element;
    });
    const [short, long] = [run(few), run(many)];
    expect([short.pauses, long.pauses]).toEqual([0, 2]);
    expect(long.data.filter((_, at) => at % 1001 === 0)).toEqual(short.data);
    expect(long.data.filter((_, at) => at % 1001 !== 0).every((element) => element === 0)).toBe(true);
  });
});
