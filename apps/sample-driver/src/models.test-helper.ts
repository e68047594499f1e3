/** A small model, and its execution by a device. */
import { createBurst } from "@nnhal/driver-core/burst";
import { mapPool, memoryOf } from "@nnhal/driver-core/memory";
import { addModel as addModelOf, constant, input, modelOf, operand, output, subgraphOf } from "@nnhal/test-kit/models";
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
export const addModel: Model = addModelOf([2]);

/** A request of an addition of `count` float32: both inputs and the output lie in one memory of 12 bytes per element. */
export function addRequest(memory: Memory, count = 2): Request {
  const length = 4 * count;
  const at = (offset: number) => ({ hasNoValue: false, location: { poolIndex: 0, offset, length }, dimensions: [] });
  return { inputs: [at(0), at(length)], outputs: [at(2 * length)], pools: [{ kind: "memory", memory }] };
}

/** Prepares a model, or throws why it cannot be. */
export async function prepare(device: Device, model: Model = addModel): Promise<PreparedModel> {
  const { preparedModel, message, status } = await device.prepareModel(model);
  if (preparedModel === null) throw new Error(`${status}: ${message}`);
  return preparedModel;
}

/** Starts a burst of a model through queues that the daemon sees. */
export function burstOf(model: PreparedModel, { createMemory }: Pick<Device, "createMemory">) {
  if (model.configureExecutionBurst === undefined) throw new Error("the device has no bursts");
  return createBurst(model.configureExecutionBurst, { allocate: createMemory });
}

const side = 128;
const depth = 16;

/** CONV_2D of an image of 128x128x16 with 16 filters of 3x3: an execution of some tenths of a second. */
export const slowModel: Model = modelOf(
  subgraphOf(
    [
      operand({ ...input, dimensions: [1, side, side, depth] }),
      operand({ ...input, dimensions: [depth, 3, 3, depth] }),
      operand({ ...input, dimensions: [depth] }),
      ...[0, 1, 2, 3].map((index) => constant("INT32", 4 * index, 4)),
      operand({ ...output, dimensions: [1, side, side, depth] }),
    ],
    [{ type: OperationType.CONV_2D, inputs: [0, 1, 2, 3, 4, 5, 6], outputs: [7] }],
  ),
  // Padding SAME, strides 1 and 1, no activation.
  { operandValues: new Uint8Array(Int32Array.of(1, 1, 1, 0).buffer) },
);

/** A request of `slowModel`, on zeros. */
export function slowRequest(): Request {
  const lengths = [side * side * depth, depth * 9 * depth, depth, side * side * depth].map((length) => 4 * length);
  const arguments_ = lengths.map((length, index) => ({
    hasNoValue: false,
    location: { poolIndex: 0, offset: lengths.slice(0, index).reduce((sum, one) => sum + one, 0), length },
    dimensions: [],
  }));
  const memory = memoryOf(new Uint8Array(lengths.reduce((sum, one) => sum + one, 0)));
  return { inputs: arguments_.slice(0, 3), outputs: arguments_.slice(3), pools: [{ kind: "memory", memory }] };
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
