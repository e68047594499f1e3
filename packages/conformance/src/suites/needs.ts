/**
 * What cases need of a device that a device need not have. A case that misses something is unsupported, and says what.
 */
import type { ElementType } from "./small-models.ts";

/** Something that a device need not have, and that cases are about. */
export type Need =
  /** A model that computes with the type, among those that the kit makes. */
  | ElementType
  /** A model of the kit at all. */
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
  /** Telling which output did not fit. */
  | "insufficient outputs"
  | "bursts"
  /** Bursts whose service is in the thread of its caller, and needs no queues. */
  | "direct bursts"
  | "fenced executions"
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

/** The device has not got what the case is about, and need not have it. */
export class Unsupported extends Error {
  override readonly name = "Unsupported";
  readonly need: Need;

  constructor(need: Need, why?: string) {
    super(why === undefined ? `no ${need}` : `no ${need}: ${why}`);
    this.need = need;
  }
}

/** Ends the case: nothing can be proven. */
export function lacking(need: Need, why?: string): never {
  throw new Unsupported(need, why);
}
