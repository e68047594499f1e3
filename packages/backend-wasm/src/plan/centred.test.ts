/** Operations that subtract a mean, on elements that are far closer to each other than to 0. */
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
import { backend } from "../wasm-backend.ts";

const { TENSOR_FLOAT32, FLOAT32, INT32, BOOL } = OperandType;
const { SUBGRAPH_INPUT, SUBGRAPH_OUTPUT, CONSTANT_COPY, NO_VALUE } = OperandLifeTime;

/** A number, and that three steps of float32 above it: no float32 is their mean. */
const close = [1000, 1000 + 3 * 2 ** -14];

/** A constant, or undefined for an operand that is omitted. */
type Constant = readonly [type: number, dimensions: readonly number[], numbers: readonly number[]] | undefined;

/** Results of an operation with one input, its other operands after it, on both engines: [the backend's, the reference's]. */
async function resultsOf(
  type: number,
  input: readonly number[],
  inputDimensions: readonly number[],
  constants: readonly Constant[],
  outputDimensions: readonly number[],
): Promise<readonly (readonly number[])[]> {
  const bytes: number[] = [];
  const operands: Operand[] = [
    operand({ type: TENSOR_FLOAT32, dimensions: [...inputDimensions], lifetime: SUBGRAPH_INPUT }),
    ...constants.map((constant) => {
      if (constant === undefined) return operand({ type: TENSOR_FLOAT32, dimensions: [], lifetime: NO_VALUE });
      const [constantType, dimensions, numbers] = constant;
      const isWhole = constantType === INT32 || constantType === BOOL;
      const data = new Uint8Array((isWhole ? Int32Array : Float32Array).from(numbers).buffer);
      const location = { poolIndex: 0, offset: bytes.length, length: constantType === BOOL ? 1 : data.length };
      bytes.push(...data);
      return operand({ type: constantType, dimensions: [...dimensions], lifetime: CONSTANT_COPY, location });
    }),
    operand({ type: TENSOR_FLOAT32, dimensions: [...outputDimensions], lifetime: SUBGRAPH_OUTPUT }),
  ];
  const last = operands.length - 1;
  const inputs = [...operands.keys()].slice(0, last);
  const model = modelOf(subgraphOf(operands, [{ type, inputs, outputs: [last] }]), {
    operandValues: Uint8Array.from(bytes),
  });
  return Promise.all(
    [backend, referenceBackend].map(async (each) => {
      const session = await each.open();
      if ("unavailable" in session) throw new Error(session.unavailable);
      const options = { preference: ExecutionPreference.SUSTAINED_SPEED, priority: Priority.MEDIUM };
      const executable = await session.compile(viewModel({ model, pools: [] }), options);
      const results = new Float32Array(outputDimensions.reduce((product, extent) => product * extent, 1));
      const given = { bytes: new Uint8Array(Float32Array.from(input).buffer), dimensions: [...inputDimensions] };
      const output = { bytes: new Uint8Array(results.buffer), dimensions: [...outputDimensions] };
      const context = { now: () => 0n, loopTimeoutDuration: 1n, measure: false, random: () => 0 };
      expect((await executable.run([given], [output], context)).status).toBe(ErrorStatus.NONE);
      executable.close();
      return Array.from(results);
    }),
  );
}

const scalar = (value: number): Constant => [FLOAT32, [], [value]];

function expectClose([found = [], wanted = []]: readonly (readonly number[])[]): void {
  expect(found).toHaveLength(wanted.length);
  for (const [index, value] of wanted.entries()) expect(found[index]).toBeCloseTo(value, 5);
}

it.each([
  { name: "close to each other", elements: close },
  { name: "around 0", elements: [-1, 2] },
])("INSTANCE_NORMALIZATION of pixels $name", async ({ elements }) => {
  const constants = [scalar(1), scalar(0.5), scalar(1e-10), [BOOL, [], [0]] as const];
  const results = await resultsOf(
    OperationType.INSTANCE_NORMALIZATION,
    elements,
    [1, 1, 2, 1],
    constants,
    [1, 1, 2, 1],
  );
  // One deviation below beta, and one above it.
  expect(results[1]?.[0]).toBeLessThan(-0.4);
  expectClose(results);
});

it.each([
  { name: "close to each other", elements: close },
  { name: "around 0", elements: [-1, 2] },
])("a layer of a cell that is normalised, with sums $name", async ({ elements }) => {
  const tensor = (dimensions: readonly number[], numbers: readonly number[]): Constant => [
    TENSOR_FLOAT32,
    dimensions,
    numbers,
  ];
  const four = (constant: Constant) => [constant, constant, constant, constant];
  const constants = [
    ...four(tensor([2, 1], elements)),
    ...four(tensor([2, 2], [0, 0, 0, 0])),
    // No peepholes.
    ...[undefined, undefined, undefined],
    ...four(tensor([2], [0.25, -0.5])),
    // No projection.
    ...[undefined, undefined],
    tensor([1, 2], [0, 0]),
    tensor([1, 2], [0.5, -0.5]),
    [INT32, [], [4]] as const,
    ...[scalar(0), scalar(0)],
    [BOOL, [], [1]] as const,
    ...four(tensor([2], [1, 2])),
  ];
  const results = await resultsOf(OperationType.UNIDIRECTIONAL_SEQUENCE_LSTM, [1, 1], [2, 1, 1], constants, [2, 1, 2]);
  expect(new Set(results[1]).size).toBe(4);
  expectClose(results);
});
