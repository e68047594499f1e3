/**
 * A model that adds two numbers, prepared on the reference backend.
 */
import { referenceBackend } from "@nnhal/backend-reference";
import {
  type Model,
  type Operand,
  OperandLifeTime,
  OperandType,
  OperationType,
  type PreparedModel,
} from "@nnhal/types";
import { openDevice } from "../device/index.ts";

const operand = (lifetime: number, numberOfConsumers: number): Operand => ({
  type: OperandType.TENSOR_FLOAT32,
  dimensions: [1],
  numberOfConsumers,
  scale: 0,
  zeroPoint: 0,
  lifetime,
  location: { poolIndex: 0, offset: 0, length: 0 },
  extraParams: { kind: "none" },
});

const addModel: Model = {
  main: {
    operands: [
      operand(OperandLifeTime.SUBGRAPH_INPUT, 1),
      operand(OperandLifeTime.SUBGRAPH_INPUT, 1),
      {
        ...operand(OperandLifeTime.CONSTANT_COPY, 1),
        type: OperandType.INT32,
        dimensions: [],
        location: { poolIndex: 0, offset: 0, length: 4 },
      },
      operand(OperandLifeTime.SUBGRAPH_OUTPUT, 0),
    ],
    operations: [{ type: OperationType.ADD, inputs: [0, 1, 2], outputs: [3] }],
    inputIndexes: [0, 1],
    outputIndexes: [3],
  },
  referenced: [],
  operandValues: new Uint8Array(4),
  pools: [],
  relaxComputationFloat32toFloat16: false,
  extensionNameToPrefix: [],
};

/** The model, ready to run. */
export async function prepareAdd(): Promise<PreparedModel> {
  const device = await openDevice({ backend: referenceBackend });
  if ("unavailable" in device) throw new Error(device.unavailable);
  const { preparedModel, message } = await device.prepareModel(addModel);
  if (preparedModel === null) throw new Error(message);
  return preparedModel;
}
