/**
 * Construction of kernels for tfjs. A kernel is a function from named arguments to a computation on tensors. This module disposes of
 * intermediate tensors, and dequantises and requantises operands.
 */
import type { Kernel, KernelSetup, KernelTensor, ReadTensor } from "@nnhal/backend";
import { type AnyArgs, type AnyOperandType, ensure, isFloat, type TensorInfo } from "@nnhal/operations";
import * as tf from "@tensorflow/tfjs-core";
import { dequantise, isQuantised, requantise } from "./_quantised.ts";

export type Read = ReadTensor<tf.Tensor>;
export type Setup = KernelSetup<tf.Tensor>;

/** Computes a new tensor for each output. A single one needs no array. */
export type Compute = (
  read: Read,
  context: { readonly random: () => number },
) => tf.Tensor | readonly (tf.Tensor | undefined)[];

/** A computation that pauses between its steps. `bag` owns the tensors that it needs from one step to the next. */
export type ComputeInSteps = (
  read: Read,
  bag: Bag,
  context: { readonly random: () => number },
) => Generator<void, readonly (tf.Tensor | undefined)[], void>;

/** A kernel, and the types of the first tensor argument that it accepts. */
export interface TfjsKernel<Args = AnyArgs, Outputs = AnyArgs> extends Kernel<tf.Tensor, Args, Outputs> {
  accepts(type: AnyOperandType): boolean;
}

/** The definition of a kernel, with the arguments and outputs of its operation by name. */
export interface KernelSpec<Args = AnyArgs, Outputs = AnyArgs> {
  accepts?(type: AnyOperandType): boolean;
  refuse?(args: AnyArgs, outputs: AnyArgs): string | undefined;
  dispatches?(args: AnyArgs, outputs: AnyArgs): number;
  prepare(args: Args, outputs: Outputs, setup: Setup): Compute;
}

/** A kernel on tensors as they are stored: quantised ones are float32 tensors of whole numbers. Accepts all types by default. */
export function storedKernel<Args, Outputs>(spec: KernelSpec<Args, Outputs>): TfjsKernel<Args, Outputs>;
export function storedKernel({ accepts = () => true, refuse, dispatches, prepare }: KernelSpec): TfjsKernel {
  return {
    accepts,
    ...(dispatches && { dispatches }),
    refuse(args, outputs) {
      const subject = subjectOf(args);
      if (subject !== undefined && !accepts(subject.type)) return `${subject.type} is not available`;
      return refuse?.(args, outputs);
    },
    prepare(args, outputs, setup) {
      const keep = (tensor: tf.Tensor) => setup.keep(tf.keep(tensor));
      const compute = inTidy(() => prepare(args, outputs, { ...setup, keep }));
      const count = Object.values(outputs).flat().length;
      return (read, context) => {
        const results = tf.tidy(() => {
          const given = compute(read, context);
          return given instanceof tf.Tensor ? [given] : given.filter((tensor) => tensor !== undefined);
        });
        checkCount(results, count);
        return results;
      };
    },
  };
}

/** Tensors that outlive a pause. `tf.tidy` cannot be used for them: tfjs has one stack of scopes for all computations. */
export interface Bag {
  /** As `tf.tidy`; the bag owns the results, unless the prepared kernel keeps them. */
  tidy<T extends tf.Tensor | tf.Tensor[]>(make: () => T): T;
  /** Disposes of those tensors that the bag owns. */
  drop(tensors: readonly tf.Tensor[]): void;
}

/** The definition of a kernel in steps. */
export interface SteppedKernelSpec<Args = AnyArgs, Outputs = AnyArgs>
  extends Omit<KernelSpec<Args, Outputs>, "prepare"> {
  prepare(args: Args, outputs: Outputs, setup: Setup): ComputeInSteps;
}

/** As `storedKernel`, for long computations: the kernel pauses between its steps. */
export function steppedKernel<Args, Outputs>(spec: SteppedKernelSpec<Args, Outputs>): TfjsKernel<Args, Outputs>;
export function steppedKernel({ prepare, ...spec }: SteppedKernelSpec): TfjsKernel {
  const whole = storedKernel({ ...spec, prepare: () => () => [] });
  return {
    ...whole,
    prepare(args, outputs, setup) {
      const keep = (tensor: tf.Tensor) => setup.keep(tf.keep(tensor));
      const compute = inTidy(() => prepare(args, outputs, { ...setup, keep }));
      const count = Object.values(outputs).flat().length;
      return (read, context) => inBag((bag) => compute(read, bag, context), count);
    },
  };
}

/** Runs a computation in steps, and disposes of all tensors in its bag except its results. */
function* inBag(
  compute: (bag: Bag) => ReturnType<ComputeInSteps>,
  count: number,
): Generator<void, readonly tf.Tensor[], void> {
  const held = new Set<tf.Tensor>();
  const bag: Bag = {
    tidy(make) {
      const results = tf.tidy(make);
      for (const tensor of [results].flat()) if (!tensor.kept) held.add(tensor);
      return results;
    },
    drop(tensors) {
      for (const tensor of tensors) if (held.delete(tensor)) tensor.dispose();
    },
  };
  try {
    const results = (yield* compute(bag)).filter((tensor) => tensor !== undefined);
    checkCount(results, count);
    for (const tensor of results) held.delete(tensor);
    return results;
  } finally {
    for (const tensor of held) tensor.dispose();
  }
}

function checkCount(results: readonly tf.Tensor[], count: number): void {
  ensure(results.length === count, () => `the kernel returned ${results.length} of ${count} outputs`);
}

/** The result of a function. Disposes of the tensors that it creates, except those that it keeps. */
function inTidy<T>(make: () => T): T {
  const made: T[] = [];
  tf.tidy(() => {
    made.push(make());
  });
  return made[0];
}

/** A kernel on float32 tensors; float16 tensors are float32 in tfjs. */
export function floatKernel<Args, Outputs>(spec: KernelSpec<Args, Outputs>): TfjsKernel<Args, Outputs>;
export function floatKernel(spec: KernelSpec): TfjsKernel {
  return storedKernel({ accepts: isFloat, ...spec });
}

/** A kernel on real numbers: quantised operands are dequantised for it, and its results requantised. */
export function realKernel<Args, Outputs>(spec: KernelSpec<Args, Outputs>): TfjsKernel<Args, Outputs>;
export function realKernel({ prepare, accepts, refuse }: KernelSpec): TfjsKernel {
  return storedKernel({
    accepts: accepts ?? ((type) => isFloat(type) || isQuantised(type)),
    ...(refuse && { refuse }),
    prepare(args: AnyArgs, outputs: AnyArgs, setup) {
      const compute = prepare(args, outputs, {
        ...setup,
        constant(tensor) {
          const stored = setup.constant(tensor);
          return stored && dequantise(stored, tensor);
        },
      });
      const infos = Object.values(outputs).flat().filter(isTensorInfo);
      return (read, context) => {
        const given = compute((tensor) => dequantise(read(tensor), tensor), context);
        const results = given instanceof tf.Tensor ? [given] : given;
        return results.map((result, position) => result && requantise(result, infos[position]));
      };
    },
  });
}

/** Delegates to the first kernel that accepts the type. */
export function firstOf<Args, Outputs>(...kernels: readonly TfjsKernel<Args, Outputs>[]): TfjsKernel<Args, Outputs>;
export function firstOf(...kernels: readonly TfjsKernel[]): TfjsKernel {
  const choose = (args: AnyArgs): TfjsKernel | undefined => {
    const subject = subjectOf(args);
    return kernels.find(({ accepts }) => subject !== undefined && accepts(subject.type));
  };
  return {
    accepts: (type) => kernels.some(({ accepts }) => accepts(type)),
    refuse(args, outputs) {
      const kernel = choose(args);
      return kernel === undefined ? `${subjectOf(args)?.type} is not available` : kernel.refuse?.(args, outputs);
    },
    prepare(args, outputs, setup) {
      const kernel = choose(args);
      ensure(kernel !== undefined, () => `${subjectOf(args)?.type} is not available`);
      return kernel.prepare(args, outputs, setup);
    },
  };
}

/** Accepts these types. */
export function only(...types: readonly AnyOperandType[]): (type: AnyOperandType) => boolean {
  return (type) => types.includes(type);
}

/** The first tensor argument: its type is the type of the operation. */
function subjectOf(args: AnyArgs): TensorInfo | undefined {
  return Object.values(args).flat().find(isTensorInfo);
}

/** Returns whether an argument is a tensor. */
export function isTensorInfo(value: unknown): value is TensorInfo {
  return typeof value === "object" && value !== null && "dimensions" in value;
}

/**
 * The result of `change` on an argument: computed once if the argument is constant, else in each run. For weights, whose layout in tfjs
 * is not that of the HAL.
 */
export function deriveTensor<T extends tf.Tensor>(
  argument: KernelTensor,
  { constant, keep }: Setup,
  change: (tensor: tf.Tensor) => T,
): (read: Read) => T {
  const tensor = constant(argument);
  if (tensor === undefined) return (read) => change(read(argument));
  const kept = change(tensor);
  keep(kept);
  return () => kept;
}

/** The most elements of an intermediate tensor. */
const mostElements = 2 ** 26;

/** Refuses an intermediate tensor that is too large: some engines crash if they run out of memory. */
export function ensureSize(name: string, elements: number): void {
  ensure(elements <= mostElements, () => `${name} has ${elements} elements, but at most ${mostElements} are available`);
}

/** The tensor, if it has rank 4. Throws OperationError otherwise. */
export function rank4(tensor: tf.Tensor): tf.Tensor4D {
  ensure(isRank4(tensor), () => `the rank of a tensor: expected 4, got ${tensor.rank}`);
  return tensor;
}

function isRank4(tensor: tf.Tensor): tensor is tf.Tensor4D {
  return tensor.rank === 4;
}

/** The tensor, if it has rank 2. Throws OperationError otherwise. */
export function rank2(tensor: tf.Tensor): tf.Tensor2D {
  ensure(isRank2(tensor), () => `the rank of a tensor: expected 2, got ${tensor.rank}`);
  return tensor;
}

function isRank2(tensor: tf.Tensor): tensor is tf.Tensor2D {
  return tensor.rank === 2;
}
