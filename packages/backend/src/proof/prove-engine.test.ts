import type { AnyArgs, AnyOperandType } from "@nnhal/operations";
import { describe, expect, it } from "vitest";
import { capabilitiesOf } from "../capabilities.ts";
import type { Kernel, KernelTable, KernelTensor } from "../kernels/kernel.ts";
import type { FormFailures, OutcomeStore } from "../self-check.ts";
import { proveEngine, type TableEngine } from "./prove-engine.ts";
import { differenceOf } from "./verdict.ts";

const processor = { name: "Model X", identity: "Model X sse" };

/** Elements that are counted while they are held. */
interface Elements {
  readonly list: readonly number[];
}

function isTensor(value: unknown): value is KernelTensor {
  return typeof value === "object" && value !== null;
}

function kernelOf(compute: (args: Readonly<Record<string, readonly number[]>>) => number[]): Kernel<Elements> {
  return {
    prepare: (args) => (read) => {
      const tensors = Object.entries(args).flatMap(([name, value]) =>
        isTensor(value) ? [[name, value] as const] : [],
      );
      return [{ list: compute(Object.fromEntries(tensors.map(([name, value]) => [name, read(value).list]))) }];
    },
  };
}

const sumOf = ({ left = [], right = [] }: Readonly<Record<string, readonly number[]>>) =>
  left.map((each, place) => Math.fround(each + (right[place] ?? 0)));
const right = {
  // The probe of 8-bit numbers is not for this kernel.
  ADD: { ...kernelOf(sumOf), refuse: (args: AnyArgs) => (isOf8Bits(args) ? "8 bits are not available" : undefined) },
  MEAN: kernelOf(() => []),
  REDUCE_SUM: kernelOf(({ input = [] }) => [input.reduce((sum, each) => sum + each, 0)]),
  TANH: kernelOf(({ input = [] }) => input.map((x) => Math.fround(Math.tanh(x)))),
};

function isOf8Bits({ left }: AnyArgs): boolean {
  return typeof left === "object" && left !== null && "type" in left && left.type === "TENSOR_QUANT8_ASYMM";
}

/** An engine of some kernels, which counts its handles. */
function engineOf(kernels: Readonly<Record<string, Kernel<Elements>>>) {
  const counted = { held: 0, uploads: 0 };
  const engine: TableEngine<Elements> = {
    version: "engine 1",
    capabilities: capabilitiesOf({ float: 1, quantised: 1 }),
    // A table for the operations that the probes run.
    kernels: { ...right, ...kernels } as KernelTable<Elements>,
    upload(_, data) {
      counted.held++;
      counted.uploads++;
      return { list: Array.from(data, Number) };
    },
    download: ({ list }) => {
      counted.held++;
      return Float32Array.from(list);
    },
    release: () => void counted.held--,
    close() {},
  };
  return { engine, counted };
}

const tensor = (type: AnyOperandType) => ({ input: { type, dimensions: [1], scale: 1, zeroPoint: 0 } });

async function proven(kernels: Readonly<Record<string, Kernel<Elements>>>, outcomes?: OutcomeStore) {
  const { engine, counted } = engineOf(kernels);
  const result = await proveEngine(engine, { processor, outcomes });
  const table = result.kernels as Readonly<Record<string, Kernel<Elements> | undefined>>;
  const refusals = Object.entries(table).flatMap(([name, kernel]) => {
    const reason = kernel?.refuse?.(tensor("TENSOR_FLOAT32"), tensor("TENSOR_FLOAT32"));
    return reason === undefined ? [] : [`${name}: ${reason}`];
  });
  const notPreferred = result.choices?.filter(({ reason }) => reason !== undefined) ?? [];
  return { version: result.version, refusals, notPreferred, counted };
}

describe("proveEngine", () => {
  it("leaves an engine that is right as it is, and releases all handles", async () => {
    const { version, refusals, notPreferred, counted } = await proven({});
    expect({ version, refusals, notPreferred }).toEqual({ version: "engine 1", refusals: [], notPreferred: [] });
    expect(counted.held).toBe(0);
    expect(counted.uploads).toBeGreaterThan(5);
  });

  it("refuses everything of an engine with fewer digits than float32, and names the processor", async () => {
    const half = kernelOf((args) => sumOf(args).map((each) => Number(each.toPrecision(4))));
    const { version, refusals, notPreferred } = await proven({ ADD: half });
    expect(version).toMatch(/^engine 1 forms-[0-9a-f]{8}$/);
    expect(refusals.length).toBe(4);
    expect(refusals[0]).toContain(
      "float32 numbers are not available: on the processor Model X, of 24 digits is wrong: ADD:",
    );
    expect(notPreferred[0]).toMatchObject({ subject: "float32 numbers", chosen: undefined });
  });

  it("states infinities that are lost, and refuses nothing", async () => {
    const finite = kernelOf((args) => sumOf(args).map((each) => (Number.isFinite(each) ? each : 0)));
    const { version, refusals, notPreferred } = await proven({ ADD: { ...finite, refuse: right.ADD.refuse } });
    expect(version).toMatch(/ forms-/);
    expect(refusals).toEqual([]);
    expect(notPreferred).toEqual([
      {
        subject: "infinities and NaN",
        chosen: "not kept",
        reason: "on the processor Model X, kept is wrong: ADD: expected Infinity, got 0",
      },
    ]);
  });

  it("refuses sums if a loop ends before its last turn", async () => {
    const short = kernelOf(({ input = [] }) => [input.slice(0, 1000).reduce((sum, each) => sum + each, 0)]);
    const { refusals } = await proven({ REDUCE_SUM: short });
    expect(refusals.map((each) => each.split(":")[0])).toEqual(["MEAN", "REDUCE_SUM"]);
    expect(refusals[0]).toContain("expected 70004, got 1000");
  });

  it("refuses a function that is wrong, and no other", async () => {
    const overflowing = kernelOf(({ input = [] }) => input.map((x) => (Math.abs(x) > 50 ? Number.NaN : Math.tanh(x))));
    const { refusals } = await proven({ TANH: overflowing });
    expect(refusals).toEqual([
      "TANH: results of TANH are not available: on the processor Model X, function TANH is wrong: TANH: expected -1, got NaN",
    ]);
  });

  it("refuses a function that throws, and releases all handles", async () => {
    const throwing = kernelOf(() => {
      throw new Error("the driver was lost");
    });
    const { refusals, counted } = await proven({ TANH: throwing });
    expect(refusals).toEqual([expect.stringContaining("the driver was lost")]);
    expect(counted.held).toBe(0);
  });

  it("takes the outcome that is kept, of this engine on this processor, and runs nothing", async () => {
    const keys: string[] = [];
    const kept: FormFailures = { "function TANH": "expected 1, got 2" };
    const outcomes: OutcomeStore = {
      async read(key) {
        keys.push(key);
        return kept;
      },
      write: () => Promise.reject(new Error("nothing is to be written")),
    };
    const { refusals, counted } = await proven({}, outcomes);
    expect(keys).toEqual(["engine 1 on Model X sse"]);
    expect(refusals).toEqual([expect.stringContaining("expected 1, got 2")]);
    expect(counted.uploads).toBe(0);
  });
});

describe("differenceOf", () => {
  it("is exact without an allowance: the sign of 0, NaN and the number of elements count", () => {
    expect(differenceOf("X", [0, Number.NaN], [0, Number.NaN])).toBeUndefined();
    expect(differenceOf("X", [-0], [0])).toBe("X: expected -0, got 0");
    expect(differenceOf("X", [1], [Number.NaN])).toBe("X: expected 1, got NaN");
    expect(differenceOf("X", [1], [1, 2])).toBe("X: expected 1 elements, got 2");
  });

  it("allows a part of an element's size, at least of 1", () => {
    expect(differenceOf("X", [0, 1000], [0.009, 1009], 0.01)).toBeUndefined();
    expect(differenceOf("X", [0, 1000], [0.011, 1000], 0.01)).toBe("X: expected 0, got 0.011");
    expect(differenceOf("X", [0, 1000], [0, 1011], 0.01)).toBe("X: expected 1000, got 1011");
  });

  it("shows the elements of constants to the function that refuses, so that no probe is left out", async () => {
    const seen: boolean[] = [];
    const wrong: Kernel<Elements> = {
      ...kernelOf(() => new Array<number>(12).fill(0)),
      refuse({ bias }) {
        const isKnown = typeof bias === "object" && "data" in bias && bias.data !== undefined;
        seen.push(isKnown);
        return isKnown ? undefined : "a bias that is not constant is not available";
      },
    };
    const { notPreferred } = await proven({ FULLY_CONNECTED: wrong });
    expect(seen).toContain(true);
    expect(notPreferred.map(({ subject }) => subject)).toContain("8-bit layers");
  });

  describe("of an engine that fuses functions", () => {
    const computed = {
      TANH: Math.tanh,
      LOGISTIC: (x: number) => 1 / (1 + Math.exp(-x)),
      SIN: Math.sin,
    };
    /** Kernels of some functions and of MUL, which apply what follows. `counts`: how many ran with so many operations. */
    const makeFusing = (functions: Readonly<Record<string, (x: number) => number>>, counts: number[]) => {
      const kernel = (name: string): Kernel<Elements> => ({
        leads: true,
        follows: () => true,
        prepare:
          (args, _, { following }) =>
          (read) => {
            const listOf = (value: unknown) => (isTensor(value) ? read(value).list : []);
            counts.push(1 + following.length);
            let list = listOf(args.input).map((x) => Math.fround(functions[name]?.(x) ?? Number.NaN));
            for (const next of following) {
              const right = next.name === "MUL" ? listOf(next.args.right) : [];
              list = list.map((x, place) => Math.fround(functions[next.name]?.(x) ?? x * (right[place] ?? 0)));
            }
            return [{ list }];
          },
      });
      return Object.fromEntries([...Object.keys(functions), "MUL"].map((name) => [name, kernel(name)]));
    };

    it("proves a chain of them with one kernel", async () => {
      const counts: number[] = [];
      const { refusals } = await proven(makeFusing(computed, counts));
      expect(refusals).toEqual([]);
      expect(counts).toEqual([5]);
    });

    it("probes each alone if the chain is wrong, and refuses the wrong one", async () => {
      const counts: number[] = [];
      const wrong = { ...computed, LOGISTIC: (x: number) => Math.min(1, 1 / (1 + Math.exp(-x)) + 1e-3) };
      const { refusals } = await proven(makeFusing(wrong, counts));
      expect(refusals.map((each) => each.split(":")[0])).toEqual(["LOGISTIC"]);
      expect(counts).toEqual([5, 1, 1, 1]);
    });
  });
});
