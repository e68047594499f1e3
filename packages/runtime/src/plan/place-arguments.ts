/**
 * The arguments of a model, by their places.
 */
import type { Places } from "./place.ts";

/** A model's arguments where they are. */
export interface Arguments {
  readonly inputs: Places;
  readonly outputs: Places;
}
