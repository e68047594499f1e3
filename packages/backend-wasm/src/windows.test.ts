/** Windows whose strides, paddings and extents are far larger than the image: results are the reference's, or they are refused. */
import { viewModel } from "@nnhal/backend";
import { referenceBackend } from "@nnhal/backend-reference";
import { modelOf, operand, subgraphOf } from "@nnhal/test-kit/models";
import {
  ErrorStatus,
  ExecutionPreference,
  OperandLifeTime,
  OperandType,
  OperationType,
  type OperationTypeName,
  Priority,
} from "@nnhal/types";
import { describe, expect, it } from "vitest";
import { backend } from "./wasm-backend.ts";

const { TENSOR_FLOAT32, INT32 } = OperandType;
const { SUBGRAPH_INPUT, SUBGRAPH_OUTPUT, CONSTANT_COPY } = OperandLifeTime;
const context = { now: () => 0n, loopTimeoutDuration: 1n, measure: false, random: () => 0 };
const options = { preference: ExecutionPreference.SUSTAINED_SPEED, priority: Priority.MEDIUM };

/** The results of an operation on an image [1, 3, 4, 2], or the reason why it is refused. */
async function resultOn(
  over: typeof backend,
  name: OperationTypeName,
  tensors: readonly (readonly number[])[],
  settings: readonly number[],
  result: number[],
): Promise<number[] | string> {
  const of = (dimensions: readonly number[], lifetime: typeof SUBGRAPH_INPUT | typeof SUBGRAPH_OUTPUT) =>
    operand({ type: TENSOR_FLOAT32, dimensions: [...dimensions], lifetime });
  const inputs = [[1, 3, 4, 2], ...tensors];
  const scalars = settings.map((_, place) =>
    operand({
      type: INT32,
      dimensions: [],
      lifetime: CONSTANT_COPY,
      location: { poolIndex: 0, offset: 4 * place, length: 4 },
    }),
  );
  const operands = [
    ...inputs.map((dimensions) => of(dimensions, SUBGRAPH_INPUT)),
    ...scalars,
    of(result, SUBGRAPH_OUTPUT),
  ];
  const last = operands.length - 1;
  const operation = {
    type: OperationType[name],
    inputs: Array.from({ length: last }, (_, place) => place),
    outputs: [last],
  };
  const operandValues = new Uint8Array(Int32Array.from(settings).buffer);
  const graph = viewModel({ model: modelOf(subgraphOf(operands, [operation]), { operandValues }), pools: [] });
  const session = await over.open();
  if ("unavailable" in session) throw new Error(session.unavailable);
  const [view] = graph.operations;
  const support = view && session.supports(view);
  if (support?.supported === false) return support.reason;
  const executable = await session.compile(graph, options);
  const given = inputs.map((dimensions) => {
    const count = dimensions.reduce((product, extent) => product * extent, 1);
    return { bytes: new Uint8Array(Float32Array.from({ length: count }, (_, index) => index + 1).buffer), dimensions };
  });
  const values = new Float32Array(result.reduce((product, extent) => product * extent, 1));
  const output = { bytes: new Uint8Array(values.buffer), dimensions: result };
  expect(await executable.run(given, [output], context)).toMatchObject({ status: ErrorStatus.NONE });
  executable.close();
  return [...values];
}

const far = 2 ** 30;
const filters: readonly (readonly number[])[] = [[1, 2, 2, 2], [2]];

describe("a window that reaches far", () => {
  it.each<readonly [OperationTypeName, readonly (readonly number[])[], readonly number[], number[]]>([
    ["CONV_2D", filters.with(1, [1]), [2, far, far, 0], [1, 1, 1, 1]],
    ["CONV_2D", filters.with(1, [1]), [0, 0, 0, 0, 1, far, 0], [1, 1, 3, 1]],
    ["DEPTHWISE_CONV_2D", filters, [2, far, far, 1, 0], [1, 1, 1, 2]],
    ["MAX_POOL_2D", [], [2, far, far, 2, 2, 0], [1, 1, 1, 2]],
    ["AVERAGE_POOL_2D", [], [2, far, far, 2, 2, 0], [1, 1, 1, 2]],
  ])("computes %s as the reference does", async (name, tensors, settings, result) => {
    const actual = await resultOn(backend, name, tensors, settings, result);
    expect(actual).toEqual(await resultOn(referenceBackend, name, tensors, settings, result));
  });

  it("is refused if its bytes have more than 32 bits", async () => {
    const settings = [far - 1, far - 1, 0, 0, far, 1, far, 2, 0];
    expect(await resultOn(backend, "MAX_POOL_2D", [], settings, [1, 2, 2, 2])).toBe(
      "MAX_POOL_2D: its strides, dilations and paddings reach too far",
    );
  });
});
