/**
 * The places of a model's arguments.
 */
import type { Places } from "./place.ts";

/** The places of inputs and outputs, in order. */
export interface Arguments {
  readonly inputs: Places;
  readonly outputs: Places;
}
