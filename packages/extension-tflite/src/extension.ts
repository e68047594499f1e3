/**
 * The extension. The name and code of an operation are those of the builtin operator, and its operands are the operator's tensors in
 * order, then its options as scalars.
 */
import type { TypedExtension } from "@nnhal/operations";
import { defineExtension } from "@nnhal/operations/authoring";
import { tfliteOperations } from "@nnhal/operations/tflite";
import { extensionName as name, tfliteTypes } from "./types.ts";

/** The extension `nnhal.tflite`. */
export const tfliteExtension: TypedExtension<typeof name, typeof tfliteOperations> = defineExtension({
  name,
  operandTypes: tfliteTypes,
  operations: tfliteOperations,
});
