/** Tensor arguments by name, for kernels that several operations share, such as recurrent cells. */
import { ensure } from "@nnhal/operations";
import type { KernelTensor } from "./kernel.ts";

/** The tensor arguments of an operation by name. */
export type TensorArgs = Readonly<Record<string, KernelTensor | number | boolean | undefined>>;

/** A tensor argument; undefined if it is omitted. */
export function optionalTensor(args: TensorArgs, name: string): KernelTensor | undefined {
  const argument = args[name];
  return typeof argument === "object" ? argument : undefined;
}

/** A mandatory tensor argument. Throws an OperationError if it is omitted. */
export function requiredTensor(args: TensorArgs, name: string): KernelTensor {
  const tensor = optionalTensor(args, name);
  ensure(tensor !== undefined, () => `${name} is omitted`);
  return tensor;
}
