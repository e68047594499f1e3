/** Operands of the operators of .tflite that the HAL lacks. */
import type { KernelTensor } from "@nnhal/backend";
import { type AnyArgs, isExtensionType, type TensorInfo, typeText } from "@nnhal/operations";
import type { Lowering } from "../plan/lowering.ts";
import { refuse } from "../plan/refusal.ts";

/** Lowerings by the names of their operators. The extension's definitions say which operands and results each has. */
// biome-ignore lint/suspicious/noExplicitAny: the definitions are not a part of this package
export type Table = Readonly<Record<string, Lowering<any, any>>>;

/** An operator of one tensor. */
export interface One {
  readonly input: KernelTensor;
}

/** An operator of two tensors that broadcast. */
export interface Two {
  readonly left: KernelTensor;
  readonly right: KernelTensor;
}

/** An operator with one result. */
export interface Result {
  readonly output: TensorInfo;
}

/** Returns true if an argument is a tensor. */
export function isTensor(value: AnyArgs[string] | TensorInfo): value is KernelTensor {
  return typeof value === "object" && "dimensions" in value;
}

/** Refuses elements of types that the HAL lacks. */
export function expectPlain({ type }: TensorInfo): void {
  if (isExtensionType(type)) refuse(`${typeText(type)} is not available`);
}

/** The constant numbers of a tensor. */
export function numbersOf(what: string, { data }: KernelTensor): readonly number[] {
  if (data === undefined) return refuse(`${what} is not constant`);
  return Array.from(data as ArrayLike<number | bigint>, Number);
}
