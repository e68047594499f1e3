/**
 * Optional parts of a device that cases need. A case is unsupported if the device lacks such a part; its reason names
 * the part.
 */
/** The element types that cases are about, in the order in which they are tried. */
export const elementTypes = [
  "TENSOR_FLOAT32",
  "TENSOR_QUANT8_ASYMM",
  "TENSOR_FLOAT16",
  "TENSOR_QUANT8_ASYMM_SIGNED",
] as const;
export type ElementType = (typeof elementTypes)[number];

/** An optional part of a device that cases need. */
export type Need =
  /** A model of the kit that computes with the type. */
  | ElementType
  /** Any model of the kit. */
  | "models"
  /** A model with an extent that only a request knows. */
  | "unknown extents"
  /** An ADD or MUL with a constant tensor. */
  | "constant tensors"
  /** A scalar that is an input of the model. */
  | "scalar inputs"
  | "IF"
  | "WHILE"
  | "FILL"
  | "TILE"
  /** An operation that slides a window over an image. */
  | "CONV_2D"
  | "DEPTHWISE_CONV_2D"
  | "AVERAGE_POOL_2D"
  | "MAX_POOL_2D"
  | "L2_POOL_2D"
  /** A chain of operations on large tensors. */
  | "long executions"
  /** An operation of the kit that the device does not support. */
  | "unsupported operations"
  /** A model of the kit that can be broken in a certain way. */
  | "models to break"
  /** The shape of an output that did not fit. */
  | "insufficient outputs"
  | "bursts"
  /** Bursts whose service runs in the thread of its caller, without queues. */
  | "direct bursts"
  | "fenced executions"
  /** IPreparedModel.createReusableExecution, of AIDL 4. */
  | "reusable executions"
  /** Durations of fenced executions. */
  | "fenced durations"
  /** Several clients of one device: `connect`, as devices of `openDevice` have it. */
  | "other clients"
  /** IDevice.allocate. */
  | "device memory"
  /** Prepared models in files. */
  | "kept models"
  | "model cache files"
  | "data cache files";

/** The device lacks an optional part that the case needs. */
export class Unsupported extends Error {
  override readonly name = "Unsupported";
  readonly need: Need;

  constructor(need: Need, why?: string) {
    super(why === undefined ? `no ${need}` : `no ${need}: ${why}`);
    this.need = need;
  }
}

/** Ends the case as unsupported. */
export function endAsUnsupported(need: Need, why?: string): never {
  throw new Unsupported(need, why);
}
