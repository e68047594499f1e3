/**
 * How kernels in gpu.js are written: a function from named arguments to code, or to a few codes that read each other. What runs
 * them, and the operations that follow in the last one, are taken care of here.
 */
import {
  awaited,
  type Following,
  type Kernel,
  type KernelRun,
  type KernelSetup,
  type KernelTensor,
} from "@nnhal/backend";
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
import { isQuantised, realWriter, requantised, whyUnreadable } from "./_quantised.ts";

/** What a kernel makes its result with. */
export interface Make {
  /** Code whose result other code reads. */
  stage(grid: Grid, write: Write): Stage;
  /** Code that makes the operation's output, of the shape of the output unless another is given that has as many elements. */
  output(write: Write, grid?: Partial<Grid>): Stage;
  /** A tensor of shape [rows, ...others] as [...others, rows]; a constant is transposed when the kernel is prepared. */
  firstAxisLast(tensor: KernelTensor): Source;
  /** See `Machine.vectors` and `Machine.packs`. */
  readonly vectors: number;
  readonly packs: boolean;
  /** Whether there are many threads at a time, for which what those side by side read should lie side by side. */
  readonly onGpu: boolean;
}

/** What a kernel is made of. It names the arguments and outputs of its operation, and is only ever given these. */
export interface KernelSpec<Args = AnyArgs, Outputs = AnyArgs> {
  /** The operation, where it is one of `expressions`: it may follow in the kernel before it. */
  readonly name?: string;
  /** Types of the first tensor argument that it takes. Default: floats. */
  accepts?(type: AnyOperandType): boolean;
  refuse?(args: AnyArgs, outputs: AnyArgs): string | undefined;
  /** Whether it takes quantised elements as they are stored, whole numbers. Default: as the real numbers that they stand for. */
  readonly stored?: boolean;
  /** Whether operations may follow in it: there is one output, made with `make.output`. Default: yes. */
  readonly leads?: boolean;
  /** A source for each output. */
  prepare(args: Args, outputs: Outputs, make: Make): Source | readonly Source[];
}

/** The kernel of an operation on some machine. */
export interface GpujsKernel<Args = AnyArgs, Outputs = AnyArgs> {
  accepts(type: AnyOperandType): boolean;
  on(machine: Machine): Kernel<Value, Args, Outputs>;
}

/** Kernels by the names of their operations: each needs no more than the arguments and outputs that its operation has. */
export type GpujsTable = {
  readonly [Name in OperationName]?: GpujsKernel<OperationArgs<Name, KernelTensor>, OperationOutputs<Name>>;
};

/** A kernel out of its parts. */
export function kernelOf<Args, Outputs>(spec: KernelSpec<Args, Outputs>): GpujsKernel<Args, Outputs>;
export function kernelOf({
  name,
  accepts = isFloat,
  refuse,
  stored = false,
  leads = true,
  prepare,
}: KernelSpec): GpujsKernel {
  return {
    accepts,
    on: (machine) => ({
      leads,
      refuse(args, outputs) {
        const unreadable = stored
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
        const given = prepare(args, outputs, makerOn(machine, infos, setup.following, stored));
        const sources = isList(given) ? given : [given];
        ensure(sources.length === infos.length, () => `the kernel gave ${sources.length} of ${infos.length} outputs`);
        return runnerOf(sources, machine, setup);
      },
    }),
  };
}

function isList(given: Source | readonly Source[]): given is readonly Source[] {
  return Array.isArray(given);
}

/** Why the type of the first tensor argument, which stands for the operation's, is not taken. */
export function whyNotAccepted(args: AnyArgs, accepts: (type: AnyOperandType) => boolean): string | undefined {
  const [subject] = tensorsIn(args);
  return subject === undefined || accepts(subject.type) ? undefined : `${subject.type} is not available`;
}

/** Why a tensor whose extents are known has too many elements; an extent of 0 is not known. */
export function whyTooLarge(operands: readonly AnyArgs[], machine: Machine): string | undefined {
  return operands
    .flatMap(tensorsIn)
    .map(({ dimensions }) => whyTooMany(elementCount(dimensions), machine))
    .find((reason) => reason !== undefined);
}

function tensorsIn(args: AnyArgs): TensorInfo[] {
  return Object.values(args).flat().filter(isTensorInfo);
}

/** Whether elements are real numbers, or stand for them. */
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
    onGpu: machine.mode === "webgpu" || machine.mode === "headlessgl",
    stage: (grid, write) => writeStage(grid, machine, real(write)),
    output(write, grid = {}) {
      const flat = grid.flat === true && !needsCoordinates(following);
      const whole = { dimensions: output.dimensions, ...grid, flat };
      return writeStage(whole, machine, (writer) => {
        const values = appendFollowing(writer, real(write)(writer), following, whole);
        if (stored || !isQuantised(output.type)) return values;
        const requantise = (value: string) => requantised(writer, value, output);
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

/** One program of a kernel, and where its inputs come from: tensors of the graph, kept values, programs before it. */
interface Job {
  readonly compiled: Compiled;
  readonly inputs: readonly (KernelTensor | Value | number)[];
}

/** Compiles what the sources need, in order, and runs it. */
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
        made.push(yield* awaited(compiled.run(inputs.map(valueFor))));
      }
      return results.map((result) => valueFor(result).hold());
    } finally {
      for (const value of made) value.release();
    }
  };
}
