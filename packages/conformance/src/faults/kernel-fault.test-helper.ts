/**
 * Faults in the arithmetic of one operation: the reference kernel with other arguments, or with other results.
 */
import {
  type AnyArg,
  isFloat,
  type Operation,
  type OperationName,
  type OutputTensor,
  type Tensor,
} from "@nnhal/operations";
import { changeKernel, type KernelChange } from "@nnhal/test-kit/changed-kernel";

/** A fault in the kernels of operations. */
export interface KernelFault {
  /** The fault in words. */
  readonly what: string;
  /** The operation that is wrong, whose examples find it. */
  readonly operation: OperationName;
  /** The kind of examples that find it. Default: any of the operation's. */
  readonly kind?: "limits" | "bias";
  /** Plants a new fault for each device: some faults remember earlier computations. */
  plant(): (operation: Operation) => Operation;
}

/** The examples that find a fault, by the beginning of their names. */
export function checkOf({ operation, kind }: KernelFault): string {
  return kind === undefined ? `arithmetic/${operation}/` : `arithmetic/${operation}/${kind}/`;
}

/** A fault of an operation. */
export function faultOf(
  operation: OperationName,
  what: string,
  change: KernelChange | (() => KernelChange),
  kind?: KernelFault["kind"],
): KernelFault {
  return {
    what,
    operation,
    ...(kind && { kind }),
    plant: () => changeKernel(operation, typeof change === "function" ? change() : change),
  };
}

/** An argument as a tensor, if it is one. */
function maybeTensor(arg: AnyArg): Tensor | undefined {
  // Kernels get tensors, not the facts of operands alone.
  return typeof arg === "object" && "data" in arg ? (arg as Tensor) : undefined;
}

/** An argument that is a tensor. */
export function tensorOf(arg: AnyArg): Tensor {
  const tensor = maybeTensor(arg);
  if (tensor === undefined) throw new TypeError("the argument is not a tensor");
  return tensor;
}

export function isTensor(arg: AnyArg): boolean {
  return maybeTensor(arg) !== undefined;
}

export function numberOf(arg: AnyArg): number {
  return typeof arg === "number" ? arg : Number(arg ?? 0);
}

/** Replaces an argument by what becomes of the tensor there; an omitted one stays omitted. */
export function withTensor(name: string, change: (tensor: Tensor) => Tensor): NonNullable<KernelChange["before"]> {
  return (args) => (isTensor(args[name]) ? { ...args, [name]: change(tensorOf(args[name])) } : args);
}

/** Replaces a number. */
export function withNumber(name: string, change: (value: number) => number): NonNullable<KernelChange["before"]> {
  return (args) => ({ ...args, [name]: change(numberOf(args[name])) });
}

/** Replaces each element of the first output, of all types, or of floats or quantised ones only. */
export function withElements(
  change: (element: number, index: number, output: OutputTensor) => number,
  of: "all" | "floats" | "quantised" = "all",
): NonNullable<KernelChange["after"]> {
  return ([output]) => {
    if (output === undefined) return;
    if (of === "floats" ? !isFloat(output.type) : of === "quantised" && output.scale === 0) return;
    for (let index = 0; index < output.data.length; index++) {
      output.data[index] = change(output.data[index] ?? 0, index, output);
    }
  };
}
