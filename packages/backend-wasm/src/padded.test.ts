/** Images with padding: what an operation after it reads, and what fills it. */
import { viewModel } from "@nnhal/backend";
import { referenceBackend } from "@nnhal/backend-reference";
import { modelOf, operand, subgraphOf } from "@nnhal/test-kit/models";
import {
  ErrorStatus,
  ExecutionPreference,
  type Operand,
  OperandLifeTime,
  OperandType,
  OperationType,
  Priority,
} from "@nnhal/types";
import { expect, it } from "vitest";
import { backend } from "./wasm-backend.ts";

const { TENSOR_FLOAT32, TENSOR_QUANT8_ASYMM, TENSOR_INT32, INT32, BOOL } = OperandType;
const { SUBGRAPH_INPUT, SUBGRAPH_OUTPUT, TEMPORARY_VARIABLE, CONSTANT_COPY } = OperandLifeTime;

/** Constants one after the other, of 32 bits each. */
function constantsOf(lists: readonly (readonly [type: number, dimensions: number[], numbers: number[]])[]) {
  const all: number[] = [];
  const operands = lists.map(([type, dimensions, numbers]) => {
    const location = { poolIndex: 0, offset: 4 * all.length, length: type === BOOL ? 1 : 4 * numbers.length };
    all.push(...numbers);
    return operand({ type, dimensions, lifetime: CONSTANT_COPY, location });
  });
  return { operands, operandValues: new Uint8Array(Int32Array.from(all).buffer) };
}

/** Expects that both engines have the same bytes. */
async function expectSame(
  operands: Operand[],
  operations: { type: number; inputs: number[]; outputs: number[] }[],
  operandValues: Uint8Array,
  input: Uint8Array,
  bytes: number,
): Promise<void> {
  const graph = viewModel({ model: modelOf(subgraphOf(operands, operations), { operandValues }), pools: [] });
  const extents = (lifetime: number) => operands.find((each) => each.lifetime === lifetime)?.dimensions ?? [];
  const results = await Promise.all(
    [backend, referenceBackend].map(async (each) => {
      const session = await each.open();
      if ("unavailable" in session) throw new Error(session.unavailable);
      const options = { preference: ExecutionPreference.SUSTAINED_SPEED, priority: Priority.MEDIUM };
      const executable = await session.compile(graph, options);
      const output = { bytes: new Uint8Array(bytes), dimensions: extents(SUBGRAPH_OUTPUT) };
      const given = { bytes: input, dimensions: extents(SUBGRAPH_INPUT) };
      const context = { now: () => 0n, loopTimeoutDuration: 1n, measure: false, random: () => 0 };
      expect((await executable.run([given], [output], context)).status).toBe(ErrorStatus.NONE);
      executable.close();
      return output.bytes;
    }),
  );
  expect(results[0]).toEqual(results[1]);
}

it("a filling of 8 bits wraps", async () => {
  const facts = { type: TENSOR_QUANT8_ASYMM, scale: 0.5, zeroPoint: 173 };
  const { operands, operandValues } = constantsOf([
    [TENSOR_INT32, [1, 2], [2, 1]],
    [INT32, [], [-27]],
  ]);
  const input = operand({ ...facts, dimensions: [3], lifetime: SUBGRAPH_INPUT });
  const output = operand({ ...facts, dimensions: [6], lifetime: SUBGRAPH_OUTPUT });
  const operations = [{ type: OperationType.PAD_V2, inputs: [0, 1, 2], outputs: [3] }];
  await expectSame([input, ...operands, output], operations, operandValues, Uint8Array.of(1, 2, 3), 6);
});

it("a transposed convolution reads a padded image", async () => {
  const of = (dimensions: number[], lifetime: number) => operand({ type: TENSOR_FLOAT32, dimensions, lifetime });
  const { operands, operandValues } = constantsOf([
    [TENSOR_INT32, [4, 2], [0, 0, 2, 1, 0, 1, 0, 0]],
    // Filter and bias: their bits do not matter, as long as they are numbers.
    [TENSOR_FLOAT32, [1, 1, 1, 1], [0x4000_0000]],
    [TENSOR_FLOAT32, [1], [0x3f80_0000]],
    ...[0, 0, 0, 0, 1, 1, 0].map((number): [number, number[], number[]] => [INT32, [], [number]]),
    [BOOL, [], [0]],
  ]);
  const image = of([1, 2, 2, 1], SUBGRAPH_INPUT);
  const shape = [1, 5, 3, 1];
  const all = [image, ...operands, of(shape, TEMPORARY_VARIABLE), of(shape, SUBGRAPH_OUTPUT)];
  const operations = [
    { type: OperationType.PAD, inputs: [0, 1], outputs: [12] },
    { type: OperationType.TRANSPOSE_CONV_2D, inputs: [12, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11], outputs: [13] },
  ];
  const input = new Uint8Array(Float32Array.of(1, 2, 3, 4).buffer);
  await expectSame(all, operations, operandValues, input, 60);
});
