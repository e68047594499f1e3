/**
 * The extension. The name and code of an operation are those of the builtin operator, and its operands are the operator's tensors in
 * order, then its options as scalars.
 */
import { defineExtension } from "@nnhal/operations/authoring";
import { operations } from "./operations.gen.ts";
import { extensionName as name, tfliteTypes } from "./types.ts";
import { widenings } from "./widenings.ts";

/** The extension `nnhal.tflite`. */
export const tfliteExtension = defineExtension({
  name,
  operandTypes: tfliteTypes,
  operations: [...operations, ...widenings],
});
