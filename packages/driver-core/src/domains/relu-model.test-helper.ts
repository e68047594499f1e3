/**
 * Models of one RELU, of any type and shape, on a device over the reference backend; and requests for them.
 */
import { referenceBackend } from "@nnhal/backend-reference";
import {
  type Device,
  ErrorStatus,
  type Memory,
  type Model,
  type Operand,
  OperandLifeTime,
  OperandType,
  OperationType,
  type PreparedModel,
  type Request,
  type RequestArgument,
  type RequestMemoryPool,
} from "@nnhal/types";
import { openDevice } from "../device/device.ts";
import { allocateMemory, mapMemory } from "../memory/memory.ts";

const nowhere = { poolIndex: 0, offset: 0, length: 0 };

/** Facts of a model's operands. */
export interface OperandFacts {
  readonly type?: number;
  readonly dimensions?: readonly number[];
  readonly scale?: number;
  readonly zeroPoint?: number;
}

function operand(lifetime: number, facts: OperandFacts): Operand {
  return {
    type: OperandType.TENSOR_FLOAT32,
    dimensions: [2, 3],
    scale: 0,
    zeroPoint: 0,
    ...facts,
    numberOfConsumers: lifetime === OperandLifeTime.SUBGRAPH_INPUT ? 1 : 0,
    lifetime,
    location: nowhere,
    extraParams: { kind: "none" },
  };
}

const base = {
  referenced: [],
  operandValues: new Uint8Array(0),
  pools: [],
  relaxComputationFloat32toFloat16: false,
  extensionNameToPrefix: [],
};

/** max(x, 0); `output`: where the output differs from the input. */
export function reluModel(facts: OperandFacts = {}, output: OperandFacts = facts): Model {
  const { SUBGRAPH_INPUT, SUBGRAPH_OUTPUT } = OperandLifeTime;
  return {
    ...base,
    main: {
      operands: [operand(SUBGRAPH_INPUT, facts), operand(SUBGRAPH_OUTPUT, output)],
      operations: [{ type: OperationType.RELU, inputs: [0], outputs: [1] }],
      inputIndexes: [0],
      outputIndexes: [1],
    },
  };
}

/** a + b of one shape; the fused activation is the model's third input. */
export function addModel(facts: OperandFacts = {}): Model {
  const { SUBGRAPH_INPUT, SUBGRAPH_OUTPUT } = OperandLifeTime;
  const activation = operand(SUBGRAPH_INPUT, { type: OperandType.INT32, dimensions: [] });
  return {
    ...base,
    main: {
      operands: [
        operand(SUBGRAPH_INPUT, facts),
        operand(SUBGRAPH_INPUT, facts),
        activation,
        operand(SUBGRAPH_OUTPUT, facts),
      ],
      operations: [{ type: OperationType.ADD, inputs: [0, 1, 2], outputs: [3] }],
      inputIndexes: [0, 1, 2],
      outputIndexes: [3],
    },
  };
}

/** Two RELUs side by side: inputs 0 and 1 to outputs 0 and 1. */
export function pairModel(facts: OperandFacts = {}): Model {
  const { SUBGRAPH_INPUT, SUBGRAPH_OUTPUT } = OperandLifeTime;
  return {
    ...base,
    main: {
      operands: [SUBGRAPH_INPUT, SUBGRAPH_INPUT, SUBGRAPH_OUTPUT, SUBGRAPH_OUTPUT].map((lifetime) =>
        operand(lifetime, facts),
      ),
      operations: [
        { type: OperationType.RELU, inputs: [0], outputs: [2] },
        { type: OperationType.RELU, inputs: [1], outputs: [3] },
      ],
      inputIndexes: [0, 1],
      outputIndexes: [2, 3],
    },
  };
}

/** A device over the reference backend whose optional methods are there. */
export async function referenceDevice(): Promise<Device & Required<Pick<Device, "allocate">>> {
  const device = await openDevice({ backend: referenceBackend });
  if ("unavailable" in device) throw new Error(device.unavailable);
  const { allocate } = device;
  if (allocate === undefined) throw new Error("the device has no allocate");
  return { ...device, allocate };
}

/** Prepares a model that can be prepared. */
export async function prepareOn(device: Device, model: Model): Promise<PreparedModel> {
  const { preparedModel, status, message } = await device.prepareModel(model);
  if (preparedModel === null) throw new Error(`not prepared: status ${status}: ${message}`);
  return preparedModel;
}

/** Allocates a buffer that can be allocated: for these inputs and outputs of one prepared model. */
export async function bufferFor(
  device: Pick<Required<Device>, "allocate">,
  model: PreparedModel,
  inputs: readonly number[],
  outputs: readonly number[],
  dimensions: readonly number[] = [],
) {
  const role = (ioIndex: number) => ({ modelIndex: 0, ioIndex, frequency: 1 });
  const result = await device.allocate({ dimensions }, [model], inputs.map(role), outputs.map(role));
  if (result.buffer === null) throw new Error(`not allocated: status ${result.status}: ${result.message}`);
  return { ...result, buffer: result.buffer };
}

/** Memory that holds some floats. */
export function floats(...values: number[]): Memory {
  const memory = allocateMemory(4 * values.length);
  floatsIn(memory).set(values);
  return memory;
}

/** The floats that a memory holds. */
export function floatsIn(memory: Memory): Float32Array {
  const bytes = mapMemory(memory);
  if ("unmappable" in bytes) throw new Error(bytes.unmappable);
  return new Float32Array(bytes.buffer, bytes.byteOffset, bytes.byteLength / 4);
}

/** Where one argument lies: a token or a memory, and dimensions where it says some. */
export type Place = number | Memory | { readonly at: number | Memory; readonly dimensions: readonly number[] };

/** A request whose arguments each have a pool of their own, but that the same token or memory is one pool. */
export function requestFor(inputs: readonly Place[], outputs: readonly Place[]): Request {
  const pools: RequestMemoryPool[] = [];
  const known = new Map<number | Memory, number>();
  const argument = (place: Place): RequestArgument => {
    const { at, dimensions } = typeof place === "object" && "at" in place ? place : { at: place, dimensions: [] };
    const isToken = typeof at === "number";
    const poolIndex =
      known.get(at) ?? pools.push(isToken ? { kind: "token", token: at } : { kind: "memory", memory: at }) - 1;
    known.set(at, poolIndex);
    return { hasNoValue: false, location: { poolIndex, offset: 0, length: isToken ? 0 : at.size }, dimensions };
  };
  return { inputs: inputs.map(argument), outputs: outputs.map(argument), pools };
}

/** The three ways to execute, each as a status and whether a failure came with fields that it must not have. */
export const executions = {
  async execute(model: PreparedModel, request: Request) {
    const { status, outputShapes } = await model.execute(request);
    return { status, isClean: status === ErrorStatus.NONE || outputShapes.length === 0 };
  },
  async executeFenced(model: PreparedModel, request: Request) {
    const launched = await model.executeFenced?.(request, []);
    if (launched === undefined) throw new Error("the model has no executeFenced");
    const { status, syncFence, callback } = launched;
    if (status !== ErrorStatus.NONE) return { status, isClean: syncFence === null && callback === null };
    await syncFence?.wait();
    return { status: (await callback?.getExecutionInfo())?.status, isClean: true };
  },
} as const;
