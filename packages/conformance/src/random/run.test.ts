/**
 * The judge of random operations, on operations made to break one rule each.
 */
import {
  elementAt,
  ensure,
  type KernelResult,
  type Operation,
  type OutputTensor,
  type Tensor,
} from "@nnhal/operations";
import { alternative, defineOperation, int32, resize, tensor } from "@nnhal/operations/authoring";
import { describe, expect, it } from "vitest";
import { createRandom } from "./random.ts";
import { runRandomOperation } from "./run.ts";
import { signaturesOf } from "./signature.ts";

type Kernel = (input: Tensor, output: OutputTensor) => KernelResult;

/** An operation of one tensor of three elements whose output has the same shape. */
function madeUp(
  reference: Kernel,
  more: { dynamic?: boolean; dimensions?: readonly number[]; scale?: number } = {},
): Operation {
  const { dynamic = false, dimensions, scale } = more;
  return defineOperation({
    name: "MADE_UP",
    code: 0,
    summary: "Made up.",
    params: [tensor("input")],
    outputs: [tensor("output")],
    types: [["1.0", "TENSOR_FLOAT32", "TENSOR_FLOAT32"]],
    dynamic,
    infer: ({ input }) => ({
      output: { dimensions: dimensions ?? input.dimensions, ...(scale !== undefined && { scale, zeroPoint: 0 }) },
    }),
    reference: ({ input }, { output }) => reference(input, output),
  });
}

const copy: Kernel = (input, output) => output.data.set(input.data);

function run(operation: Operation, form = 0) {
  const signature = elementAt(signaturesOf(operation), form);
  const info = { type: "TENSOR_FLOAT32", dimensions: [3], scale: 0, zeroPoint: 0 } as const;
  const input: Tensor = { ...info, data: Float32Array.of(1, 2, 3) };
  return runRandomOperation({ signature, inputs: [input], outputs: [{ ...info, dimensions: [] }] }, createRandom(1));
}

it("is content with a kernel that writes what was inferred", () => {
  const outcome = run(madeUp(copy));
  expect(outcome).toMatchObject({ kind: "computed", outputs: [{ dimensions: [3] }] });
  if (outcome.kind === "computed") expect([...elementAt(outcome.outputs, 0).data]).toEqual([1, 2, 3]);
});

it("is content with a kernel that pauses, and with one that finds the shape", () => {
  const pausing = madeUp((input, output) => ({
    units: 3,
    cost: 2 ** 18,
    compute: (first, end) => output.data.set(input.data.subarray(first, end), first),
  }));
  expect(run(pausing).kind).toBe("computed");
  const finding = madeUp((_, output) => resize(output, [2, 1]), { dynamic: true, dimensions: [0, 1] });
  expect(run(finding)).toMatchObject({ kind: "computed", outputs: [{ dimensions: [2, 1] }] });
});

it("takes an OperationError for a refusal", () => {
  const refusing = madeUp(() => ensure(false, () => "the moon is full"));
  expect(run(refusing)).toEqual({ kind: "refused", reason: "the moon is full" });
});

it("tries no large outputs, and gives up on kernels that go on and on", () => {
  expect(run(madeUp(copy, { dimensions: [1 << 14] })).kind).toBe("faulty");
  expect(run(madeUp(copy, { dimensions: [(1 << 14) + 1] }))).toEqual({ kind: "large" });
  const endless = madeUp(() => ({ units: Number.POSITIVE_INFINITY, compute: () => {} }));
  expect(run(endless)).toEqual({ kind: "long" });
});

const held: Float64Array[] = [];

const faults: readonly (readonly [what: string, operation: Operation, fault: string | RegExp])[] = [
  [
    "leaves elements out",
    madeUp((_, output) => void output.data.fill(0, 0, 2)),
    "element 2 of output 0 (output) 3 was not",
  ],
  [
    "writes beside the output",
    madeUp((_, output) => {
      output.data[3] = 1;
    }),
    "element 3 was written of output 0",
  ],
  [
    "reads beside an input",
    madeUp((input, output) => void output.data.fill(input.data[3] ?? 0)),
    "element 3 was read of input 0, which has 3",
  ],
  [
    "changes an input",
    madeUp((input, output) => {
      output.data.fill(0);
      input.data[1] = 7;
    }),
    "input 0 was changed",
  ],
  ["throws anything else", madeUp(() => JSON.parse("null").x), "TypeError"],
  [
    "writes a longer array into the output",
    madeUp((_, output) => output.data.set([1, 2, 3, 4])),
    "RangeError: offset is out of bounds",
  ],
  ["replaces an output that is final", madeUp((_, output) => resize(output, [3])), "output 0 (output) was replaced"],
  [
    "finds another shape than inferred",
    madeUp((_, output) => resize(output, [2, 2]), { dynamic: true, dimensions: [0, 1] }),
    "output 0 (output) has shape 2x2 where 0x1 was inferred",
  ],
  [
    "finds another rank than inferred",
    madeUp((_, output) => resize(output, [2]), { dynamic: true, dimensions: [0, 1] }),
    "output 0 (output) has shape 2 where 0x1 was inferred",
  ],
  [
    "has other data than its shape",
    madeUp(
      (_, output) => {
        output.dimensions = [5];
      },
      { dynamic: true, dimensions: [0] },
    ),
    "output 0 (output) 5 has 0 elements",
  ],
  [
    "holds a type as another",
    madeUp(
      (_, output) => {
        output.dimensions = [1];
        output.data = new Int32Array(1);
      },
      { dynamic: true, dimensions: [0] },
    ),
    "output 0 (output) is held as Int32Array",
  ],
  ["infers a fraction of an extent", madeUp(copy, { dimensions: [1.5] }), "inferred the shape 1.5"],
  ["infers an extent below 0", madeUp(copy, { dimensions: [-1] }), "inferred the shape -1"],
  ["infers a scale that is not a number", madeUp(copy, { scale: Number.NaN }), "inferred scale NaN"],
  [
    "allocates without measure",
    madeUp((input, output) => {
      copy(input, output);
      // Held until the kernel ends, so that it is there to be measured.
      held.push(new Float64Array(1 << 24));
    }),
    // 128 MiB, less the memory that a collection frees meanwhile.
    /it allocated 1[23]\d{7} bytes/,
  ],
];

describe("finds the fault of a kernel that", () => {
  it.each(faults)("%s", (_, operation, fault) => {
    const outcome = run(operation);
    held.length = 0;
    expect(outcome.kind).toBe("faulty");
    if (outcome.kind === "faulty") expect(outcome.fault).toMatch(fault);
  });

  it.each([
    ["leaves out", {}, "argument size is missing"],
    ["mistakes", { size: true }, "argument size is a boolean"],
  ])("%s an argument of the first form in another", (_, made, fault) => {
    const operation = defineOperation({
      name: "MADE_UP",
      code: 0,
      summary: "Made up.",
      params: [tensor("input"), int32("size")],
      outputs: [tensor("output")],
      types: [["1.0", "TENSOR_FLOAT32", "TENSOR_FLOAT32"]],
      alternatives: [
        alternative({
          params: [tensor("input")],
          normalise: () => Object.assign({ size: 0 }, { size: undefined }, made),
        }),
      ],
      infer: ({ input }) => ({ output: { dimensions: input.dimensions } }),
      reference: ({ input }, { output }) => copy(input, output),
    });
    const outcome = run(operation, 1);
    expect(outcome).toEqual({ kind: "faulty", fault });
  });

  it("is missing", () => {
    const { reference: _, ...operation } = madeUp(copy);
    expect(run(operation)).toEqual({ kind: "faulty", fault: "there is no kernel" });
  });
});
