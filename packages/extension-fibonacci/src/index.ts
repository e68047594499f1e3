/**
 * @nnhal/extension-fibonacci: the worked example of a vendor extension. It has two operand types and one operation, and at
 * `@nnhal/extension-fibonacci/backend` an engine that runs it.
 */
export { fibonacci } from "./fibonacci.ts";
export { INT64, type Quant64Params, TENSOR_QUANT64_ASYMM } from "./types.ts";
