/**
 * The entry that the browser test bundles and runs without anything of Node.js: a model of one operation, compiled and executed
 * by the reference backend.
 */
import { type GraphSource, viewModel } from "@nnhal/backend";
import { referenceBackend } from "@nnhal/backend-reference";
import { loadOperations } from "@nnhal/operations";
import {
  ErrorStatus,
  ExecutionPreference,
  type Model,
  type Operand,
  OperandLifeTime,
  OperandType,
  OperationType,
  Priority,
} from "@nnhal/types";

const elements = 3;

/** relu(left + right), element by element. */
export async function addAndClamp(left: readonly number[], right: readonly number[]): Promise<number[]> {
  await loadOperations([OperationType.ADD]);
  const session = await referenceBackend.open();
  if ("unavailable" in session) throw new Error(session.unavailable);
  const source: GraphSource = { model: addModel(), pools: [] };
  const executable = await session.compile(viewModel(source), {
    preference: ExecutionPreference.SUSTAINED_SPEED,
    priority: Priority.MEDIUM,
  });
  const output = new Float32Array(elements);
  const { status, message } = await executable.run(
    [left, right].map((values) => ({ bytes: bytesOf(Float32Array.from(values)), dimensions: [elements] })),
    [{ bytes: bytesOf(output), dimensions: [elements] }],
    { now: () => 0n, loopTimeoutDuration: 1_000_000_000n, measure: false, random: () => 0 },
  );
  if (status !== ErrorStatus.NONE) throw new Error(`execution ended with status ${status}: ${message}`);
  return [...output];
}

function addModel(): Model {
  const tensor = (lifetime: number, numberOfConsumers: number) =>
    operand(OperandType.TENSOR_FLOAT32, lifetime, { dimensions: [elements], numberOfConsumers });
  const reluCode = Int32Array.of(1);
  return {
    main: {
      operands: [
        tensor(OperandLifeTime.SUBGRAPH_INPUT, 1),
        tensor(OperandLifeTime.SUBGRAPH_INPUT, 1),
        operand(OperandType.INT32, OperandLifeTime.CONSTANT_COPY, {
          numberOfConsumers: 1,
          location: { poolIndex: 0, offset: 0, length: reluCode.byteLength },
        }),
        tensor(OperandLifeTime.SUBGRAPH_OUTPUT, 0),
      ],
      operations: [{ type: OperationType.ADD, inputs: [0, 1, 2], outputs: [3] }],
      inputIndexes: [0, 1],
      outputIndexes: [3],
    },
    referenced: [],
    operandValues: bytesOf(reluCode),
    pools: [],
    relaxComputationFloat32toFloat16: false,
    extensionNameToPrefix: [],
  };
}

function operand(type: number, lifetime: number, more: Partial<Operand>): Operand {
  return {
    type,
    lifetime,
    dimensions: [],
    numberOfConsumers: 0,
    scale: 0,
    zeroPoint: 0,
    location: { poolIndex: 0, offset: 0, length: 0 },
    extraParams: { kind: "none" },
    ...more,
  };
}

function bytesOf({ buffer, byteOffset, byteLength }: Float32Array | Int32Array): Uint8Array {
  return new Uint8Array(buffer, byteOffset, byteLength);
}
