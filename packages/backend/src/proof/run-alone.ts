/** One kernel of an engine without a graph: for probes that compare its results with known ones. */
import { createData, elementCount, type TensorInfo } from "@nnhal/operations";
import type { OperationTypeName } from "@nnhal/types";
import type { Following, Kernel, KernelEngine, KernelTensor } from "../kernels/kernel.ts";
import { drive } from "../kernels/steps.ts";

/** An operand of a probe: a tensor with its elements, or a scalar. */
export type ProbeArgument = ProbeTensor | number | boolean;

/** A tensor with its elements. */
export interface ProbeTensor extends TensorInfo {
  readonly elements: ArrayLike<number>;
  /** True if the kernel knows the elements when it is prepared. Default: false. */
  readonly isConstant?: boolean;
}

/** An operation with all its operands. */
export interface ProbeOperation {
  /** The operands by the names of the operation's first form. */
  readonly args: Readonly<Record<string, ProbeArgument>>;
  readonly output: TensorInfo;
}

/** An operation on the result so far, in the same kernel. */
export interface ProbeFollowing extends ProbeOperation {
  /** The name of the operation. */
  readonly name: OperationTypeName;
  /** The name of the operand that stands for the result so far, which `args` does not have. */
  readonly chained: string;
}

/** A kernel with operands, and the operations that follow in it. */
export interface LoneRun<Handle> extends ProbeOperation {
  readonly kernel: Kernel<Handle>;
  /** In order. Default: none. */
  readonly following?: readonly ProbeFollowing[] | undefined;
}

/** Runs a kernel once and returns the elements of its only output. All handles are released, also if it fails. */
export async function runAlone<Handle>(
  engine: KernelEngine<Handle>,
  { kernel, args, output, following = [] }: LoneRun<Handle>,
): Promise<ArrayLike<number>> {
  const handles = new Map<number, Handle>();
  const owned: Handle[] = [];
  const closers: (() => void)[] = [];
  let count = 0;
  const bind = (given: LoneRun<Handle>["args"]) =>
    Object.fromEntries(
      Object.entries(given).map(([name, value]) => [name, typeof value === "object" ? tensorOf(value) : value]),
    );
  const tensorOf = ({ elements, isConstant = false, ...info }: ProbeTensor): KernelTensor => {
    const index = count++;
    const data = createData(info.type, elementCount(info.dimensions));
    data.set(elements);
    const handle = engine.upload(info, data);
    owned.push(handle);
    handles.set(index, handle);
    return isConstant ? { ...info, index, data } : { ...info, index };
  };
  const handleOf = ({ index }: { readonly index: number }): Handle => {
    const handle = handles.get(index);
    if (handle === undefined) throw new Error(`operand ${index} of the probe has no elements`);
    return handle;
  };
  try {
    const chain: Following[] = [];
    const bound = bind(args);
    let before = output;
    for (const { name, args: given, output: made, chained } of following) {
      const index = count++;
      const value: KernelTensor = { ...before, index };
      chain.push({ name, args: { ...bind(given), [chained]: value }, outputs: { output: made }, chained: index });
      before = made;
    }
    const run = kernel.prepare(
      bound,
      { output },
      {
        constant: (tensor) => (tensor.data === undefined ? undefined : handles.get(tensor.index)),
        keep(handle) {
          owned.push(handle);
          return handle;
        },
        onClose: (close) => closers.push(close),
        onIdle() {},
        following: chain,
      },
    );
    const outcome = run(handleOf, { random: () => 0.5 });
    const results = await ("next" in outcome ? drive(outcome, () => {}) : outcome);
    owned.push(...results);
    const [result] = results;
    if (result === undefined || results.length > 1)
      throw new Error(`the kernel made ${results.length} outputs, not one`);
    const elements = await engine.download(result, before);
    return Array.from(elements, Number);
  } finally {
    for (const close of closers) close();
    for (const handle of owned) engine.release(handle);
  }
}
