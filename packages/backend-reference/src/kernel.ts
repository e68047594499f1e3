/**
 * The reference kernel of an operation as a kernel of an engine. Handles are the tensors themselves.
 */
import type { Kernel, KernelRun, KernelSetup, KernelTensor, ReadTensor } from "@nnhal/backend";
import {
  type AnyArg,
  type AnyArgs,
  type AnyOutputs,
  createData,
  elementCount,
  type KernelResult,
  type Operation,
  type OutputTensor,
  roundAllToFloat16,
  runInSteps,
  type Tensor,
  type TensorData,
  type TensorInfo,
  tensorInfo,
} from "@nnhal/operations";
import type { Scratch } from "./scratch.ts";
import { createWidened, type WidenedBudget, type WidenedConstants } from "./widened.ts";

/** A tensor as the engine holds it. */
export interface Held extends Tensor {
  /** The elements belong to a request or a constant, so they must not be reused as scratch memory. */
  readonly isForeign: boolean;
}

/** A tensor of some facts. */
export function hold(info: TensorInfo, data: TensorData, isForeign: boolean): Held & OutputTensor {
  const { type, dimensions, scale, zeroPoint, channelQuant, params } = info;
  // Made for each tensor of each run: most have neither.
  if (channelQuant === undefined && params === undefined) {
    return { type, dimensions, scale, zeroPoint, data, isForeign };
  }
  return { ...tensorInfo(info, dimensions), data, isForeign };
}

/** State that the kernels of an engine share. */
export interface Shared {
  readonly scratch: Scratch;
  readonly widened: WidenedBudget;
  /** Absent: the kernels of the engine compute in this thread alone. */
  readonly helper?: Helper | undefined;
}

/** Threads that help the kernels of an engine. */
export interface Helper {
  /** Scratch memory that they share. */
  readonly scratch: Scratch;
  /** Memory for widened constants, which they share. */
  readonly allocate: (count: number) => Float64Array;
  /** Lets the threads help a kernel; undefined if they cannot. */
  prepare(preparation: Preparation): HelpedRun | undefined;
  close(): void;
}

/** A kernel that threads may help. */
export interface Preparation {
  readonly operation: Operation;
  readonly args: AnyArgs;
  readonly tensors: ReturnType<typeof tensorsIn>;
  readonly places: readonly OutputPlace[];
  readonly widened: WidenedConstants;
  readonly setup: KernelSetup<Held>;
}

/** Computes the work of a run with the help of threads, and a pause after every few milliseconds. */
export type HelpedRun = (
  work: KernelResult,
  read: ReadTensor<Held>,
  outputs: readonly Held[],
) => Generator<void, void, void>;

/** Elements that are filled or rounded between two pauses. */
const PART = 1 << 18;

/** The kernel of an operation; undefined if its definition has none. */
export function kernelOf(operation: Operation, shared: Shared): Kernel<Held> | undefined {
  const { reference } = operation;
  if (reference === undefined) return undefined;
  return {
    prepare(args, outputs, setup): KernelRun<Held> {
      const tensors = tensorsIn(args);
      const constants = new Set(tensors.flatMap(([, arg]) => [arg].flat()).flatMap(({ data }) => data ?? []));
      const { scratch, helper } = shared;
      const widened = createWidened(constants, shared.widened, helper?.allocate);
      setup.onIdle(widened.clear);
      setup.onClose(widened.clear);
      const places = outputPlaces(outputs);
      const run = helper?.prepare({ operation, args, tensors, places, widened, setup }) ?? runInSteps;
      return (read, { random }) => {
        const made = makeOutputs(places, scratch);
        try {
          const now = argsNow(args, tensors, read);
          const start = () => run(reference(now, made.record, { random, widened }), read, made.tensors);
          if (made.unclear !== undefined) return inSteps(made, start, scratch);
          const steps = start();
          // A kernel works no longer before its first pause than between two pauses.
          if (!steps.next().done) return inSteps(made, () => steps, scratch);
          if (!roundNow(made)) return inSteps(made, () => runInSteps(undefined), scratch);
        } catch (error) {
          giveBack(made, scratch);
          throw error;
        }
        return made.tensors;
      };
    },
  };
}

/** Arguments that are tensors, or lists of them, with their names. */
function tensorsIn(args: AnyArgs): [name: string, arg: KernelTensor | readonly KernelTensor[]][] {
  return Object.entries(args).flatMap(([name, arg]) => (isTensors(arg) ? [[name, arg]] : []));
}

/** Returns whether an argument is a tensor, or a list of tensors, of the kernel backend. */
function isTensors(arg: AnyArg): arg is KernelTensor | readonly KernelTensor[] {
  if (typeof arg !== "object") return false;
  return Array.isArray(arg) ? arg.every((one) => "index" in one) : "index" in arg;
}

function isList(arg: KernelTensor | readonly KernelTensor[]): arg is readonly KernelTensor[] {
  return Array.isArray(arg);
}

/** The arguments, with the tensors of a run. */
function argsNow(args: AnyArgs, tensors: ReturnType<typeof tensorsIn>, read: ReadTensor<Held>): AnyArgs {
  const now: Record<string, AnyArg> = { ...args };
  for (const [name, arg] of tensors) now[name] = isList(arg) ? arg.map(read) : read(arg);
  return now;
}

/** An output, or several under one name. */
export interface OutputPlace {
  readonly name: string;
  /** One, unless it is a list. */
  readonly infos: readonly TensorInfo[];
  readonly isList: boolean;
}

function outputPlaces(outputs: AnyArgs): OutputPlace[] {
  return Object.entries(outputs).flatMap(([name, info]): OutputPlace[] => {
    if (isInfos(info)) return [{ name, infos: info, isList: true }];
    return isInfo(info) ? [{ name, infos: [info], isList: false }] : [];
  });
}

/** The outputs of a run. */
interface Made {
  /** In the order of the operand list. */
  readonly tensors: (Held & OutputTensor)[];
  readonly record: AnyOutputs;
  /** Large pieces of scratch memory that must be cleared. */
  unclear?: TensorData[];
}

function makeOutputs(places: readonly OutputPlace[], scratch: Scratch): Made {
  const record: Record<string, OutputTensor | OutputTensor[]> = {};
  const made: Made = { tensors: [], record };
  for (const { name, infos, isList } of places) {
    if (isList) record[name] = infos.map((info) => makeOutput(info, made, scratch));
    else for (const info of infos) record[name] = makeOutput(info, made, scratch);
  }
  return made;
}

function makeOutput(info: TensorInfo, made: Made, scratch: Scratch): Held & OutputTensor {
  const count = elementCount(info.dimensions);
  const data = scratch.take(info.type, count);
  if (data !== undefined) {
    if (count <= PART) data.fill(0);
    else {
      made.unclear ??= [];
      made.unclear.push(data);
    }
  }
  const output = hold(info, data ?? createData(info.type, count), false);
  made.tensors.push(output);
  return output;
}

/** Sets numbers to 0. Bytes are written, since the array may be one of 64-bit integers. */
function clear(data: TensorData, from: number, to: number): void {
  const { buffer, byteOffset, byteLength, BYTES_PER_ELEMENT } = data;
  new Uint8Array(buffer, byteOffset, byteLength).fill(0, from * BYTES_PER_ELEMENT, to * BYTES_PER_ELEMENT);
}

function isInfo(info: AnyArg): info is TensorInfo {
  return typeof info === "object" && "dimensions" in info;
}

function isInfos(info: AnyArg): info is readonly TensorInfo[] {
  return Array.isArray(info);
}

/** Clears the outputs, runs the kernel, and rounds float16, with pauses. */
function* inSteps(
  made: Made,
  start: () => Generator<void, void>,
  scratch: Scratch,
): Generator<void, readonly Held[], void> {
  let isDone = false;
  try {
    for (const data of made.unclear ?? []) {
      for (let from = 0; from < data.length; from += PART) {
        clear(data, from, from + PART);
        yield;
      }
    }
    yield* start();
    for (const output of made.tensors) {
      if (!isFloat16(output)) continue;
      for (let from = 0; from < output.data.length; from += PART) {
        roundAllToFloat16(output.data.subarray(from, from + PART));
        yield;
      }
    }
    isDone = true;
    return made.tensors;
  } finally {
    if (!isDone) giveBack(made, scratch);
  }
}

function giveBack({ tensors }: Made, scratch: Scratch): void {
  for (const { data } of tensors) scratch.giveBack(data);
}

function isFloat16(output: OutputTensor): output is OutputTensor & { data: Float32Array } {
  return output.type === "TENSOR_FLOAT16" && output.data instanceof Float32Array;
}

/** Rounds float16 outputs. False if one is too large for that without a pause. */
function roundNow({ tensors }: Made): boolean {
  for (const output of tensors) {
    if (!isFloat16(output)) continue;
    if (output.data.length > PART) return false;
    roundAllToFloat16(output.data);
  }
  return true;
}
