/** A small model, and its execution by a device. */
import { mapPool, memoryOf } from "@nnhal/driver-core/memory";
import { constant, input, modelOf, operand, output, subgraphOf } from "@nnhal/test-kit/models";
import {
  type Device,
  ErrorStatus,
  type Memory,
  type Model,
  OperationType,
  type PreparedModel,
  type Request,
} from "@nnhal/types";

/** Adds two tensors of two float32. */
export const addModel: Model = modelOf(
  subgraphOf(
    [operand(input), operand(input), constant("INT32", 0, 4), operand(output)],
    [{ type: OperationType.ADD, inputs: [0, 1, 2], outputs: [3] }],
  ),
  { operandValues: new Uint8Array(4) },
);

/** A request of `addModel`: both inputs and the output lie in one memory of 24 bytes. */
export function addRequest(memory: Memory): Request {
  const at = (offset: number) => ({ hasNoValue: false, location: { poolIndex: 0, offset, length: 8 }, dimensions: [] });
  return { inputs: [at(0), at(8)], outputs: [at(16)], pools: [{ kind: "memory", memory }] };
}

/** Prepares a model, or throws why it cannot be. */
export async function prepare(device: Device, model: Model = addModel): Promise<PreparedModel> {
  const { preparedModel, message, status } = await device.prepareModel(model);
  if (preparedModel === null) throw new Error(`${status}: ${message}`);
  return preparedModel;
}

/** Executes `addModel` on 1, 2 and 3, 4. */
export async function addOnce(preparedModel: PreparedModel, memory: Memory = memoryOf(new Uint8Array(24))) {
  const mapping = mapPool(memory);
  if ("unmappable" in mapping) throw new Error(mapping.unmappable);
  const floats = new Float32Array(mapping.bytes.buffer, mapping.bytes.byteOffset, 6);
  floats.set([1, 2, 3, 4, 0, 0]);
  const { status, message } = await preparedModel.execute(addRequest(memory));
  return { status, ...(status !== ErrorStatus.NONE && { message }), sum: [...floats.subarray(4)] };
}

/** The right answer. */
export const added = { status: ErrorStatus.NONE, sum: [4, 6] };
