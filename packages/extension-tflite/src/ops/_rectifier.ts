/**
 * The operators that keep elements within the bounds of an activation. The result may have another quantisation than the input.
 */

import type { Phase } from "@nnhal/operations";
import type { AnyOutput, AnyTensor } from "../_elements.ts";
import { mapElements } from "../_elementwise.ts";

const identity = (value: number) => value;

/** Computes a rectifier; `activation` is a fused activation code. */
export function rectify(input: AnyTensor, output: AnyOutput, activation: number): Phase {
  return mapElements(input, output, { real: identity }, activation);
}
