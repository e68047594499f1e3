/** Kernels that the host computes, because their steps depend on each other: values are read back, and results placed. */
import { awaited, type Kernel, type KernelTensor } from "@nnhal/backend";
import type { AnyArgs, AnyOperandType } from "@nnhal/operations";
import type { Machine, Value } from "../machine/machine.ts";
import { type GpujsKernel, whyNotAccepted, whyTooLarge } from "./_kernel.ts";

/** What such a kernel is made of. */
export interface HostKernelSpec<Args = AnyArgs> {
  /** Types of the first tensor argument that it takes. */
  accepts(type: AnyOperandType): boolean;
  refuse?(args: AnyArgs): string | undefined;
  /** The tensor that is read, and what makes the outputs of its elements as they are stored. The computation pauses now and then. */
  prepare(args: Args): {
    readonly input: KernelTensor;
    compute(elements: Float32Array): Generator<void, readonly Float32Array[]>;
  };
}

/** A kernel of the host. */
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
          const results = yield* compute(yield* awaited(read(input).read()));
          return results.map((each) => machine.place(each));
        };
      },
    }),
  };
}
