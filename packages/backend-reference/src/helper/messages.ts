/** The messages to a thread of the reference. */
import type { AnyArgs, TensorData, TensorInfo } from "@nnhal/operations";

/** A tensor among the arguments or outputs of a kernel. */
export interface Slot {
  readonly name: string;
  /** True for one of a list under that name. */
  readonly isListed: boolean;
  readonly info: TensorInfo;
  /** The elements of a constant, in shared memory. Absent: a piece that each run names. */
  readonly constant?: TensorData;
}

/** A prepared kernel of an operation of the library: see `FindOperation`. */
export interface KernelMessage {
  readonly kind: "kernel";
  readonly id: number;
  readonly code: number;
  readonly extension?: string | undefined;
  /** The other arguments: scalars. */
  readonly args: AnyArgs;
  readonly inputs: readonly Slot[];
  readonly outputs: readonly Slot[];
}

/** `narrow`: the thread forgets widened constants. `widened`: it has one, the input with that place. */
export type Message =
  | { readonly kind: "begin"; readonly control: Int32Array<SharedArrayBuffer> }
  | KernelMessage
  | { readonly kind: "widened"; readonly id: number; readonly input: number; readonly wide: Float64Array }
  | { readonly kind: "narrow"; readonly id: number }
  | { readonly kind: "drop"; readonly id: number }
  | { readonly kind: "piece"; readonly id: number; readonly data: TensorData }
  | { readonly kind: "forget"; readonly id: number };

/** A message with its number: see `words.command`. */
export type Numbered = Message & { readonly command: number };
