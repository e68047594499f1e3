/**
 * The file of a model, read once: all that needs its tables or what is packed behind them is given this.
 */
import type { TfliteModel } from "@nnhal/tflite";

/** A .tflite file that was read. */
export interface ModelFile {
  readonly bytes: Uint8Array;
  /** Its tables; constants are views of `bytes`. */
  readonly content: TfliteModel;
}
