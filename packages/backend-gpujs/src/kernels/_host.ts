/** Kernels that the host computes, because their steps depend on each other. Values are read back, and results uploaded. */
import { awaitValue, type Kernel, type KernelTensor } from "@nnhal/backend";
import type { AnyArgs, AnyOperandType } from "@nnhal/operations";
import type { Machine, Value } from "../machine/machine.ts";
import { type GpujsKernel, whyNotAccepted, whyTooLarge } from "./_kernel.ts";

/** The definition of a kernel of the host. */
export interface HostKernelSpec<Args = AnyArgs> {
  /** The types of the first tensor argument that it accepts. */
  accepts(type: AnyOperandType): boolean;
  refuse?(args: AnyArgs): string | undefined;
  /** The tensor that is read, and the computation of the outputs from its stored elements. It pauses every few milliseconds. */
  prepare(args: Args): {
    readonly input: KernelTensor;
    compute(elements: Float32Array): Generator<void, readonly Float32Array[]>;
  };
}

/** Creates a kernel of the host. */
export function hostKernelOf<Args>(spec: HostKernelSpec<Args>): GpujsKernel<Args>;
export function hostKernelOf({ accepts, refuse, prepare }: HostKernelSpec): GpujsKernel {
  return {
    accepts,
    on: (machine: Machine): Kernel<Value> => ({
      refuse: (args, outputs) =>
        whyNotAccepted(args, accepts) ?? whyTooLarge([args, outputs], machine) ?? refuse?.(args),
      prepare(args) {
        const { input, compute } = prepare(args);
        return function* (read) {
          const results = yield* compute(yield* awaitValue(read(input).read()));
          return results.map((each) => machine.place(each));
        };
      },
    }),
  };
}
