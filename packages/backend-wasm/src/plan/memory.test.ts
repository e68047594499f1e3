import fc from "fast-check";
import { expect, it, vi } from "vitest";
import { element } from "./expression.ts";
import { layOutMemory } from "./memory.ts";
import { mostBytes, SLACK, type Step } from "./plan.ts";

/** A step that reads some regions and writes one. */
const stepOf = (reads: readonly number[], writes: number): Step => ({
  kind: "elementwise",
  name: "step",
  loops: [1],
  operands: reads.map((region) => ({ region, type: "f32", offset: 0, steps: [1] })),
  target: { region: writes, type: "f32", offset: 0, steps: [1] },
  value: element(0, "f32"),
  units: 1,
  work: 1,
});

it("gives regions that live at the same time bytes of their own, with slack behind each", () => {
  const chains = fc.array(fc.integer({ min: 1, max: 500 }), { minLength: 2, maxLength: 12 }).chain((sizes) =>
    fc.record({
      sizes: fc.constant(sizes),
      // Each step writes the next region, and reads an earlier one beside the last.
      others: fc.array(fc.nat(), { minLength: sizes.length, maxLength: sizes.length }),
    }),
  );
  fc.assert(
    fc.property(chains, ({ sizes, others }) => {
      const steps = sizes.slice(1).map((_, place) => stepOf([place, (others[place] ?? 0) % (place + 1)], place + 1));
      const last = sizes.length - 1;
      const { regions, memory } = layOutMemory(
        sizes.map((bytes) => ({ bytes })),
        steps,
        [0],
        [last],
      );
      const spans = sizes.map((_, region) => {
        const uses = steps.flatMap((step, place) =>
          step.kind === "elementwise" && [step.target, ...step.operands].some((each) => each.region === region)
            ? [place]
            : [],
        );
        return [region === 0 ? -1 : Math.min(...uses), region === last ? steps.length : Math.max(...uses)] as const;
      });
      for (const [a, [firstA, lastA]] of spans.entries()) {
        const one = regions[a] ?? { address: 0, bytes: 0 };
        expect(one.address % 64).toBe(0);
        expect(one.address + one.bytes + SLACK).toBeLessThanOrEqual(memory);
        for (const [b, [firstB, lastB]] of spans.entries()) {
          if (a === b || firstA > lastB || firstB > lastA) continue;
          const other = regions[b] ?? { address: 0, bytes: 0 };
          const isApart =
            one.address + one.bytes + SLACK <= other.address || other.address + other.bytes + SLACK <= one.address;
          expect(isApart).toBe(true);
        }
      }
    }),
  );
});

it("puts constants first, once, and leaves out those that no step reads", () => {
  const data = Float32Array.of(1, 2, 3);
  const unused = { bytes: 0, make: () => new Float32Array(1000) };
  const { regions, constants, memory } = layOutMemory(
    [{ bytes: 0, make: () => data }, unused, { bytes: 4 }],
    [stepOf([0], 2)],
    [],
    [2],
  );
  expect(regions[0]).toMatchObject({ address: 64, bytes: 12 });
  expect(regions[0]?.data).toEqual(new Uint8Array(data.buffer));
  expect(regions[1]?.data).toBeUndefined();
  expect(regions[2]?.address).toBe(constants);
  expect(memory).toBeLessThan(1000);
});

it("leaves large constants to be made in the memory that they are for", () => {
  const fill = vi.fn();
  const weights = { byteLength: 4000, count: 1000, fill };
  const { regions, constants } = layOutMemory(
    [{ bytes: 0, make: () => weights }, { bytes: 4 }],
    [stepOf([0], 1)],
    [],
    [1],
  );
  expect(regions[0]).toEqual({ address: 64, bytes: 4000, data: weights });
  expect(constants).toBeGreaterThan(4000);
  expect(fill).not.toHaveBeenCalled();
});

it("lets results share bytes when the first is not needed any more, up to the limit of a memory", () => {
  const third = Math.floor(mostBytes / 3);
  const steps = [stepOf([0], 1), stepOf([1], 2), stepOf([2], 3)];
  const { memory } = layOutMemory(
    [third, third, third, third].map((bytes) => ({ bytes })),
    steps,
    [0],
    [3],
  );
  expect(memory).toBeLessThan(2 * third + 1000);
  const apart = [stepOf([0], 1), stepOf([0, 1], 2), stepOf([0, 1, 2], 3)];
  expect(() =>
    layOutMemory(
      [third, third, third, third].map((bytes) => ({ bytes })),
      apart,
      [0],
      [3],
    ),
  ).toThrow("of memory, more than the");
});
