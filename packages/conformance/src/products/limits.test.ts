/** Sums at their limits: every number of channels, both limits, every place of a pair. */
import { elementAt, type Operation } from "@nnhal/operations";
import { describe, expect, it } from "vitest";
import { kernelOperations } from "../random/examples.ts";
import { exactSums, operandsOf, weightedSums } from "./exact.ts";
import { type LimitCase, limitCases } from "./limits.ts";

const casesOf = (operation: Operation): LimitCase[] => [...limitCases(operation)];
const operationNamed = (name: string) =>
  elementAt(
    kernelOperations().filter((known) => known.name === name),
    0,
  );
const all = kernelOperations().flatMap(casesOf);
/** The cases whose names have a number of channels and a window. */
const windowed = (cases: readonly LimitCase[]) => cases.filter(({ name }) => name.split(".").length === 4);

describe("cases at the limits", () => {
  it("are of the weighted sums of 8 bits, with names of their own in each", () => {
    const names = new Set<string>(all.map(({ signature }) => signature.operation.name));
    expect(names).toEqual(new Set(weightedSums));
    expect(casesOf(operationNamed("ADD"))).toEqual([]);
    const own = casesOf(operationNamed("CONV_2D")).map(({ name }) => name);
    expect(new Set(own).size).toBe(own.length);
  });

  it("have every number of channels from 1 to 64, and windows of one cell and of nine in each operation", () => {
    const channels = new Set(windowed(all).map(({ name }) => Number(name.split(".")[1])));
    expect([...channels].sort((a, b) => a - b)).toEqual(Array.from({ length: 64 }, (_, index) => index + 1));
    for (const name of ["CONV_2D", "GROUPED_CONV_2D", "DEPTHWISE_CONV_2D"]) {
      const windows = new Set(windowed(casesOf(operationNamed(name))).map((one) => one.name.split(".")[2]));
      expect(windows, name).toEqual(new Set(["1", "3"]));
    }
  });

  it("have sums that go beyond 2^24 and end at a few units, which are wrong in float32", () => {
    const wide = all.filter(({ name }) => name.endsWith("cancelling") || name.endsWith("against"));
    expect(wide.map(({ name }) => name.split(".")[1])).toEqual(
      wide.map((_, place) => (place % 4 < 2 ? "2048" : "8192")),
    );
    for (const { name, signature, draw } of wide) {
      const operands = operandsOf(draw());
      const { sums } = exactSums(operands);
      const title = `${signature.operation.name} ${name}`;
      expect(Math.max(...sums.map(Math.abs)), title).toBeLessThan(100);
      const rounded = exactSums(operands, (values, weights, [ofValues, ofWeights]) =>
        values.reduce(
          (sum, value, index) => Math.fround(sum + (value - ofValues) * (elementAt(weights, index) - ofWeights)),
          0,
        ),
      );
      // In float32 the steps of some sums differ by more than one.
      const most = Math.max(...rounded.sums.map((sum, place) => Math.abs(sum - elementAt(sums, place))));
      expect(most, title).toBeGreaterThanOrEqual(2);
    }
  });

  it("have pairs of neighbours at a limit in every place, and all channels at both limits", () => {
    const pairs = elementAt(
      casesOf(operationNamed("CONV_2D")).filter(({ name }) => name.endsWith(".16.1.pairs")),
      0,
    );
    const { data, zeroPoint } = elementAt(pairs.draw().inputs, 1) ?? { data: [], zeroPoint: 0 };
    const places = Array.from({ length: data.length / 16 }, (_, filter) =>
      Array.from({ length: 16 }, (_, channel) => channel).filter(
        (channel) => data[filter * 16 + channel] !== zeroPoint,
      ),
    );
    expect(places.filter(({ length }) => length > 0).length).toBeGreaterThan(6);
    for (const own of places) expect(own.length === 0 || (own.length === 2 && own[1] === (own[0] ?? 0) + 1)).toBe(true);
    const whole = elementAt(
      casesOf(operationNamed("FULLY_CONNECTED")).filter(({ name }) => name.endsWith(".64.1.all")),
      0,
    );
    const [input, weights] = whole.draw().inputs;
    const rows = (tensor: typeof input) => [0, 1].map((row) => new Set(tensor?.data.slice(row * 64, (row + 1) * 64)));
    for (const tensor of [input, weights]) {
      expect(rows(tensor)).toEqual([new Set([255]), new Set([0])]);
    }
  });
});
