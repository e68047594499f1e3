/** Routines: what they do with data that are wrong, and the numbers that they compute beside those of the conformance kit. */
import { type GraphView, viewModel } from "@nnhal/backend";
import { referenceBackend } from "@nnhal/backend-reference";
import { modelOf, operand, subgraphOf } from "@nnhal/test-kit/models";
import { ErrorStatus, ExecutionPreference, OperandLifeTime, OperandType, OperationType, Priority } from "@nnhal/types";
import { describe, expect, it } from "vitest";
import { backend } from "./wasm-backend.ts";

const { TENSOR_FLOAT16, TENSOR_FLOAT32, TENSOR_INT32, INT32 } = OperandType;
const { SUBGRAPH_INPUT, SUBGRAPH_OUTPUT, CONSTANT_COPY } = OperandLifeTime;

const context = { now: () => 0n, loopTimeoutDuration: 1n, measure: false, random: () => 0 };
const options = { preference: ExecutionPreference.SUSTAINED_SPEED, priority: Priority.MEDIUM };

/** GATHER of [3, 2] along an axis by two indices. */
function gather(axis: number): GraphView {
  const facts = { type: TENSOR_FLOAT32, dimensions: [3, 2], lifetime: SUBGRAPH_INPUT };
  const operands = [
    operand(facts),
    operand({ type: INT32, dimensions: [], lifetime: CONSTANT_COPY, location: { poolIndex: 0, offset: 0, length: 4 } }),
    operand({ ...facts, type: TENSOR_INT32, dimensions: [2] }),
    operand({ ...facts, dimensions: axis === 0 ? [2, 2] : [3, 2], lifetime: SUBGRAPH_OUTPUT }),
  ];
  const subgraph = subgraphOf(operands, [{ type: OperationType.GATHER, inputs: [0, 1, 2], outputs: [3] }]);
  const operandValues = new Uint8Array(Int32Array.of(axis).buffer);
  return viewModel({ model: modelOf(subgraph, { operandValues }), pools: [] });
}

async function gatherRows(axis: number, indices: readonly number[]) {
  const session = await backend.open();
  if ("unavailable" in session) throw new Error(session.unavailable);
  const executable = await session.compile(gather(axis), options);
  const results = new Float32Array(axis === 0 ? 4 : 6);
  const output = { bytes: new Uint8Array(results.buffer), dimensions: axis === 0 ? [2, 2] : [3, 2] };
  const inputs = [
    { bytes: new Uint8Array(Float32Array.of(1, 2, 3, 4, 5, 6).buffer), dimensions: [3, 2] },
    { bytes: new Uint8Array(Int32Array.from(indices).buffer), dimensions: [2] },
  ];
  const { status, message } = await executable.run(inputs, [output], context);
  // It can run again after a failure.
  const again = await executable.run(
    [...inputs.slice(0, 1), { bytes: new Uint8Array(8), dimensions: [2] }],
    [{ ...output, bytes: new Uint8Array(output.bytes.length) }],
    context,
  );
  expect(again.status).toBe(ErrorStatus.NONE);
  executable.close();
  return { status, message, results: [...results] };
}

describe("an index of GATHER", () => {
  it("chooses a slice", async () => {
    expect(await gatherRows(0, [2, 0])).toMatchObject({ status: ErrorStatus.NONE, results: [5, 6, 1, 2] });
    expect(await gatherRows(1, [1, 0])).toMatchObject({ status: ErrorStatus.NONE, results: [2, 1, 4, 3, 6, 5] });
  });

  it.each([
    [0, -1, "GATHER: index: expected a number within [0, 2], got -1"],
    [0, 3, "GATHER: index: expected a number within [0, 2], got 3"],
    [1, 2, "GATHER: index: expected a number within [0, 1], got 2"],
    [0, -(2 ** 31), "GATHER: index: expected a number within [0, 2], got -2147483648"],
    [0, 2 ** 31 - 1, "GATHER: index: expected a number within [0, 2], got 2147483647"],
  ])("outside axis %i fails: %i", async (axis, index, message) => {
    expect(await gatherRows(axis, [0, index])).toMatchObject({ status: ErrorStatus.GENERAL_FAILURE, message });
  });
});

describe("floats of 16 bits", () => {
  /** The results of an operation with one input on both engines. */
  async function both(type: number, from: number, to: number, bytes: Uint8Array, count: number) {
    const of = (elements: number, lifetime: number) => operand({ type: elements, dimensions: [count], lifetime });
    const subgraph = subgraphOf(
      [of(from, SUBGRAPH_INPUT), of(to, SUBGRAPH_OUTPUT)],
      [{ type, inputs: [0], outputs: [1] }],
    );
    const graph = viewModel({ model: modelOf(subgraph), pools: [] });
    return Promise.all(
      [backend, referenceBackend].map(async (each) => {
        const session = await each.open();
        if ("unavailable" in session) throw new Error(session.unavailable);
        const executable = await session.compile(graph, options);
        const output = new Uint8Array(count * (to === TENSOR_FLOAT16 ? 2 : 4));
        const dimensions = [count];
        const result = await executable.run([{ bytes, dimensions }], [{ bytes: output, dimensions }], context);
        expect(result.status).toBe(ErrorStatus.NONE);
        return output;
      }),
    );
  }

  const isNan = (bits: number) => (bits & 0x7fff) > 0x7c00;

  it("become floats of 32 bits exactly", async () => {
    const halves = Uint16Array.from({ length: 65536 }, (_, bits) => bits);
    const [wasm, reference] = await both(
      OperationType.CAST,
      TENSOR_FLOAT16,
      TENSOR_FLOAT32,
      new Uint8Array(halves.buffer),
      65536,
    );
    expect(new Float32Array(wasm?.buffer ?? new ArrayBuffer(0))).toEqual(
      new Float32Array(reference?.buffer ?? new ArrayBuffer(1)),
    );
  });

  it("are the nearest to floats of 32 bits, halves to the even one", async () => {
    // Around each float of 16 bits, around the middle between neighbours, and around the ends.
    const floats: number[] = [
      0,
      -0,
      65504,
      65519,
      65520,
      65521,
      1e38,
      Number.POSITIVE_INFINITY,
      2 ** -25,
      2 ** -26,
      1e-45,
    ];
    for (let bits = 0; bits < 0x7c00; bits += 7) {
      const exponent = Math.max(1, bits >> 10);
      const unit = 2 ** (exponent - 25);
      const value = ((bits & 1023) + (bits >> 10 > 0 ? 1024 : 0)) * unit;
      for (const share of [0, 0.49999, 0.5, 0.50001]) floats.push(value + share * unit, -(value + share * unit));
    }
    const source = Float32Array.from(floats);
    const [wasm, reference] = await both(
      OperationType.CAST,
      TENSOR_FLOAT32,
      TENSOR_FLOAT16,
      new Uint8Array(source.buffer),
      source.length,
    );
    const halvesOf = (bytes: Uint8Array | undefined) => new Uint16Array(bytes?.buffer ?? new ArrayBuffer(0));
    expect([...halvesOf(wasm)]).toEqual([...halvesOf(reference)]);
    expect([...halvesOf(wasm)].some(isNan)).toBe(false);
  });
});

describe("DIV of integers", () => {
  it("goes towards minus infinity, wraps, and is 0 for a divisor of 0", async () => {
    const pairs = [
      [7, 2],
      [-7, 2],
      [7, -2],
      [-7, -2],
      [-(2 ** 31), -1],
      [-(2 ** 31), 1],
      [2 ** 31 - 1, -(2 ** 31)],
      [5, 0],
      [0, 0],
    ] as const;
    const of = (lifetime: typeof SUBGRAPH_INPUT | typeof SUBGRAPH_OUTPUT) =>
      operand({ type: TENSOR_INT32, dimensions: [pairs.length], lifetime });
    const none = operand({
      type: INT32,
      dimensions: [],
      lifetime: CONSTANT_COPY,
      location: { poolIndex: 0, offset: 0, length: 4 },
    });
    const operands = [of(SUBGRAPH_INPUT), of(SUBGRAPH_INPUT), none, of(SUBGRAPH_OUTPUT)];
    const subgraph = subgraphOf(operands, [{ type: OperationType.DIV, inputs: [0, 1, 2], outputs: [3] }]);
    const graph = viewModel({ model: modelOf(subgraph, { operandValues: new Uint8Array(4) }), pools: [] });
    const bytesOf = (side: 0 | 1) => new Uint8Array(Int32Array.from(pairs, (pair) => pair[side]).buffer);
    const results = await Promise.all(
      [backend, referenceBackend].map(async (each) => {
        const session = await each.open();
        if ("unavailable" in session) throw new Error(session.unavailable);
        const executable = await session.compile(graph, options);
        const output = { bytes: new Uint8Array(4 * pairs.length), dimensions: [pairs.length] };
        const inputs = ([0, 1] as const).map((side) => ({ bytes: bytesOf(side), dimensions: [pairs.length] }));
        expect(await executable.run(inputs, [output], context)).toMatchObject({ status: ErrorStatus.NONE });
        executable.close();
        return [...new Int32Array(output.bytes.buffer)];
      }),
    );
    expect(results[0]).toEqual([3, -4, -4, 3, -(2 ** 31), -(2 ** 31), -1, 0, 0]);
    expect(results[0]).toEqual(results[1]);
  });
});
