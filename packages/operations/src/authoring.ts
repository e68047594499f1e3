/**
 * @nnhal/operations/authoring: the builders for definitions of operations, such as those of a vendor's extension. Code that only reads
 * definitions needs only `@nnhal/operations`.
 */
export {
  type Alternative,
  type AlternativeSpec,
  alternative,
  type CheckArgs,
  defineOperation,
  type OperationSpec,
  type RowOf,
  type RowOfLength,
} from "./define.ts";
export { defineExtension, type ExtensionTypeSpec, type ExtensionTypesOf, extensionTypes } from "./extension.ts";
export { ensure, OperationError } from "./fail.ts";
export { multiplyByQuantisedMultiplier, quantiseMultiplier } from "./fixed-point.ts";
export { fixedPoint16 } from "./fixed-point-functions.ts";
export { broadcastData, inferBroadcast } from "./ops/_broadcast.ts";
export { CHUNK, pacer } from "./ops/_chunks.ts";
export { accumulateOdds, classAt } from "./ops/_multinomial.ts";
export { philox } from "./ops/_philox.ts";
export { ensureElements, reduce, reducedAxes, reducedCount, reducedShape } from "./ops/_reduction.ts";
export {
  any,
  bool,
  type ColumnsOf,
  float32,
  int32,
  mayStayZero,
  omittable,
  optional,
  read,
  scalar,
  subgraph,
  tensor,
  trailing,
  variadic,
  wide,
} from "./params.ts";
export { broadcastShape, ensureShape } from "./shape.ts";
export { resize } from "./tensor.ts";
export { depthwiseWork, filterWork, recurrentWork } from "./work.ts";
