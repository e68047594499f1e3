/**
 * The reference kernel of an operation as a kernel of an engine. Handles are the tensors themselves.
 */
import type { Kernel, KernelRun, KernelSetup, KernelTensor, ReadTensor } from "@nnhal/backend";
import {
  type AnyArg,
  type AnyArgs,
  type AnyOutputs,
  createData,
  elementAt,
  elementCount,
  type KernelResult,
  type Operation,
  type OutputTensor,
  type Phase,
  roundAllToFloat16,
  runIfShort,
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

/** Bytes that are cleared without a pause. */
const AT_ONCE = 1 << 18;

/** The kernel of an operation; undefined if its definition has none. */
export function kernelOf(operation: Operation, shared: Shared): Kernel<Held> | undefined {
  const { reference } = operation;
  if (reference === undefined) return undefined;
  return {
    prepare(args, outputs, setup): KernelRun<Held> {
      const tensors = tensorsIn(args);
      const constants = new Set(tensors.flatMap(([, arg]) => [arg].flat()).flatMap(({ data }) => data ?? []));
      const { scratch, helper } = shared;
      const widened = createWidened(constants, shared.widened);
      setup.onIdle(widened.clear);
      setup.onClose(widened.clear);
      const places = outputPlaces(outputs);
      const run = helper?.prepare({ operation, args, tensors, places, widened, setup }) ?? runInSteps;
      return (read, { random }) => {
        const made = makeOutputs(places, scratch);
        try {
          const now = argsNow(args, tensors, read);
          const context = { random, widened };
          if (made.unclear.length > 0)
            return inSteps(made, () => run(reference(now, made.record, context), read, made.tensors), scratch);
          const work = reference(now, made.record, context);
          // Most kernels need no generator.
          if (run !== runInSteps || !runIfShort(work)) {
            const steps = run(work, read, made.tensors);
            // A kernel works no longer before its first pause than between two pauses.
            if (!steps.next().done) return inSteps(made, () => steps, scratch);
          }
        } catch (error) {
          giveBack(made, scratch);
          throw error;
        }
        return made.tensors.some(isFloat16) ? inSteps(made, () => runInSteps(undefined), scratch) : made.tensors;
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
  return typeof arg === "object" && [arg].flat().every((one) => "index" in one);
}

function isList<One>(given: One | readonly One[]): given is readonly One[] {
  return Array.isArray(given);
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
  return Object.entries(outputs).flatMap(([name, info]) =>
    typeof info === "object" ? [{ name, infos: [info].flat(), isList: isList(info) }] : [],
  );
}

/** The outputs of a run. */
interface Made {
  /** In the order of the operand list. */
  readonly tensors: (Held & OutputTensor)[];
  readonly record: AnyOutputs;
  /** Large memory among them, which is cleared with pauses. */
  readonly unclear: Uint8Array[];
}

function makeOutputs(places: readonly OutputPlace[], scratch: Scratch): Made {
  const record: Record<string, OutputTensor | OutputTensor[]> = {};
  const made: Made = { tensors: [], record, unclear: [] };
  for (const { name, infos, isList } of places) {
    const outputs = infos.map((info) => makeOutput(info, made, scratch));
    record[name] = isList ? outputs : elementAt(outputs, 0);
  }
  return made;
}

function makeOutput(info: TensorInfo, made: Made, scratch: Scratch): Held & OutputTensor {
  const count = elementCount(info.dimensions);
  const used = scratch.take(info.type, count);
  const data = used ?? createData(info.type, count);
  // New memory too: the system gives a page when it is first written, which takes microseconds, and a kernel that writes here and there would
  // wait for thousands of pages in one range.
  if (data.byteLength > AT_ONCE) made.unclear.push(bytesOf(data));
  else if (used !== undefined) bytesOf(data).fill(0);
  const output = hold(info, data, false);
  made.tensors.push(output);
  return output;
}

/** The bytes of numbers: 64-bit integers are not filled with the number 0. */
function bytesOf({ buffer, byteOffset, byteLength }: TensorData): Uint8Array {
  return new Uint8Array(buffer, byteOffset, byteLength);
}

/** Sets bytes to 0. */
function clearOf(bytes: Uint8Array): Phase {
  return { units: bytes.length, cost: 1, compute: (first, end) => bytes.fill(0, first, end) };
}

function isFloat16(output: OutputTensor): output is OutputTensor & { data: Float32Array } {
  return output.type === "TENSOR_FLOAT16" && output.data instanceof Float32Array;
}

/** Rounds the numbers of a float16 tensor. */
function roundOf({ data }: { readonly data: Float32Array }): Phase {
  return { units: data.length, cost: 1, compute: (first, end) => roundAllToFloat16(data.subarray(first, end)) };
}

/** Clears the outputs, runs the kernel, and rounds float16, with pauses. */
function* inSteps(
  made: Made,
  start: () => Generator<void, void>,
  scratch: Scratch,
): Generator<void, readonly Held[], void> {
  let isDone = false;
  try {
    yield* runInSteps(made.unclear.map(clearOf));
    yield* start();
    yield* runInSteps(made.tensors.filter((output) => isFloat16(output)).map(roundOf));
    isDone = true;
    return made.tensors;
  } finally {
    if (!isDone) giveBack(made, scratch);
  }
}

function giveBack({ tensors }: Made, scratch: Scratch): void {
  for (const { data } of tensors) scratch.giveBack(data);
}
