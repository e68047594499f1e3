/**
 * Construction of kernels for gpu.js. A kernel is a function from named arguments to code, or to several pieces of code that read
 * each other. This module runs them, and appends the operations that follow in the last one.
 */
import {
  awaitValue,
  type Following,
  type Kernel,
  type KernelRun,
  type KernelSetup,
  type KernelTensor,
} from "@nnhal/backend";
import { MOST_WHOLE } from "@nnhal/backend/float32";
import {
  type AnyArgs,
  type AnyOperandType,
  elementCount,
  ensure,
  isFloat,
  type OperationArgs,
  type OperationName,
  type OperationOutputs,
  stridesOf,
  type TensorInfo,
  transposeMatrix,
} from "@nnhal/operations";
import type { Compiled, Machine, Value } from "../machine/machine.ts";
import { type Grid, type Packed, type Source, type Stage, type Write, whyTooMany, writeStage } from "./_code.ts";
import { ravel } from "./_index.ts";
import { appendFollowing, canFollow, needsCoordinates } from "./_pointwise.ts";
import { isQuantised, realWriter, requantiseValue, whyUnreadable } from "./_quantised.ts";

/** Functions with which a kernel makes its result. */
export interface Make {
  /** Code whose result other code reads. */
  stage(grid: Grid, write: Write): Stage;
  /** Code that computes the operation's output. Default of `grid`: the shape of the output. */
  output(write: Write, grid?: Partial<Grid>): Stage;
  /** A tensor of shape [rows, ...others] as [...others, rows]; a constant is transposed when the kernel is prepared. */
  firstAxisLast(tensor: KernelTensor): Source;
  /** See `Machine.vectors` and `Machine.packs`. */
  readonly vectors: number;
  readonly packs: boolean;
  /** True if many threads run at the same time; adjacent threads should then read adjacent elements. */
  readonly onGpu: boolean;
  /** The greatest number up to which sums of whole numbers are exact. */
  readonly mostWhole: number;
}

/** The definition of a kernel, with the arguments and outputs of its operation by name. */
export interface KernelSpec<Args = AnyArgs, Outputs = AnyArgs> {
  /** The operation, if it is one of `expressions`: it may follow in the kernel before it. */
  readonly name?: string;
  /** The types of the first tensor argument that it accepts. Default: floats. */
  accepts?(type: AnyOperandType): boolean;
  refuse?(args: AnyArgs, outputs: AnyArgs): string | undefined;
  /**
   * True if it reads and writes quantised elements as the stored integers. Default: as the real numbers that they
   * represent.
   */
  readonly stored?: boolean | ((args: AnyArgs) => boolean);
  /** True if operations may follow in it: there is one output, made with `make.output`. Default: true. */
  readonly leads?: boolean;
  /** A source for each output. */
  prepare(args: Args, outputs: Outputs, make: Make): Source | readonly Source[];
}

/** The kernel of an operation, for any machine. */
export interface GpujsKernel<Args = AnyArgs, Outputs = AnyArgs> {
  accepts(type: AnyOperandType): boolean;
  on(machine: Machine): Kernel<Value, Args, Outputs>;
}

/** Kernels by the names of their operations, each with the arguments and outputs of its operation. */
export type GpujsTable = {
  readonly [Name in OperationName]?: GpujsKernel<OperationArgs<Name, KernelTensor>, OperationOutputs<Name>>;
};

/** Creates a kernel. */
export function kernelOf<Args, Outputs>(spec: KernelSpec<Args, Outputs>): GpujsKernel<Args, Outputs>;
export function kernelOf({
  name,
  accepts = isFloat,
  refuse,
  stored = false,
  leads = true,
  prepare,
}: KernelSpec): GpujsKernel {
  const isStored = typeof stored === "boolean" ? () => stored : stored;
  return {
    accepts,
    on: (machine) => ({
      leads,
      refuse(args, outputs) {
        const unreadable = isStored(args)
          ? undefined
          : tensorsIn(args)
              .map(whyUnreadable)
              .find((reason) => reason !== undefined);
        return (
          whyNotAccepted(args, accepts) ??
          unreadable ??
          whyTooLarge([args, outputs], machine) ??
          refuse?.(args, outputs)
        );
      },
      follows: (args, outputs, chained) => name !== undefined && canFollow(name, args, outputs, chained),
      prepare(args, outputs, setup) {
        const infos = Object.values(outputs).flat().filter(isTensorInfo);
        const given = prepare(args, outputs, makerOn(machine, infos, setup.following, isStored(args)));
        const sources = isList(given) ? given : [given];
        ensure(
          sources.length === infos.length,
          () => `the kernel returned ${sources.length} of ${infos.length} outputs`,
        );
        return runnerOf(sources, machine, setup);
      },
    }),
  };
}

function isList(given: Source | readonly Source[]): given is readonly Source[] {
  return Array.isArray(given);
}

/** Why the type of the first tensor argument, which is the type of the operation, is not accepted. */
export function whyNotAccepted(args: AnyArgs, accepts: (type: AnyOperandType) => boolean): string | undefined {
  const [subject] = tensorsIn(args);
  return subject === undefined || accepts(subject.type) ? undefined : `${subject.type} is not available`;
}

/** Why a tensor has too many elements; an extent of 0 is unknown. */
export function whyTooLarge(operands: readonly AnyArgs[], machine: Machine): string | undefined {
  return operands
    .flatMap(tensorsIn)
    .map(({ dimensions }) => whyTooMany(elementCount(dimensions), machine))
    .find((reason) => reason !== undefined);
}

function tensorsIn(args: AnyArgs): TensorInfo[] {
  return Object.values(args).flat().filter(isTensorInfo);
}

/** Returns whether elements are real numbers, or represent them. */
export function isReal(type: AnyOperandType): boolean {
  return isFloat(type) || isQuantised(type);
}

function isTensorInfo(value: unknown): value is TensorInfo {
  return typeof value === "object" && value !== null && "dimensions" in value;
}

function makerOn(
  machine: Machine,
  [output]: readonly TensorInfo[],
  following: readonly Following[],
  stored: boolean,
): Make {
  const real = (write: Write): Write => (stored ? write : (writer) => write(realWriter(writer)));
  return {
    vectors: machine.vectors,
    packs: machine.packs,
    mostWhole: machine.floats ? MOST_WHOLE : Number.MAX_SAFE_INTEGER,
    onGpu: machine.mode === "webgpu" || machine.mode === "headlessgl",
    stage: (grid, write) => writeStage(grid, machine, real(write)),
    output(write, grid = {}) {
      const flat = grid.flat === true && !needsCoordinates(following);
      const whole = { dimensions: output.dimensions, ...grid, flat };
      return writeStage(whole, machine, (writer) => {
        const values = appendFollowing(writer, real(write)(writer), following, whole);
        if (stored || !isQuantised(output.type)) return values;
        const requantise = (value: string) => requantiseValue(writer, value, output);
        if (typeof values === "string") return requantise(values);
        const [a, b, c, d] = values;
        return [requantise(a), requantise(b), requantise(c), requantise(d)];
      });
    },
    firstAxisLast(tensor) {
      const [rows, ...others] = tensor.dimensions;
      if (tensor.data !== undefined) return { packed: transposeMatrix(tensor.data, rows) };
      const [first, ...rest] = stridesOf(tensor.dimensions);
      const grid = { dimensions: [...others, rows] };
      return writeStage(grid, machine, ({ read, at }) => read(tensor)(ravel(at, [...rest, first])));
    },
  };
}

/** One program of a kernel and its inputs: tensors of the graph, kept values, or results of earlier programs by number. */
interface Job {
  readonly compiled: Compiled;
  readonly inputs: readonly (KernelTensor | Value | number)[];
}

/** Compiles the programs that the sources need, in order. Returns a function that runs them, with a pause after each. */
function runnerOf(sources: readonly Source[], machine: Machine, setup: KernelSetup<Value>): KernelRun<Value> {
  const jobs: Job[] = [];
  const places = new Map<Stage, number>();
  const kept = new Map<Packed, Value>();
  const resolve = (source: Source): KernelTensor | Value | number => {
    if ("index" in source) return source;
    if ("packed" in source) {
      const value = kept.get(source) ?? setup.keep(machine.place(source.packed));
      kept.set(source, value);
      return value;
    }
    const known = places.get(source);
    if (known !== undefined) return known;
    const inputs = source.sources.map(resolve);
    const compiled = machine.compile(source.program);
    setup.onClose(() => compiled.close());
    jobs.push({ compiled, inputs });
    places.set(source, jobs.length - 1);
    return jobs.length - 1;
  };
  const results = sources.map(resolve);
  return function* (read) {
    const made: Value[] = [];
    const valueFor = (input: KernelTensor | Value | number): Value => {
      if (typeof input === "number") return made[input];
      return "index" in input ? read(input) : input;
    };
    try {
      for (const { compiled, inputs } of jobs) {
        if (made.length > 0) yield;
        made.push(yield* awaitValue(compiled.run(inputs.map(valueFor))));
      }
      return results.map((result) => valueFor(result).hold());
    } finally {
      for (const value of made) value.release();
    }
  };
}
