/**
 * @nnhal/operations/authoring: the builders for definitions of operations, such as those of a vendor's extension. Code that only reads
 * definitions needs only `@nnhal/operations`.
 */

export {
  type FlexMap,
  type FlexValue,
  type OptionValues,
  readStruct,
  type StoredOptions,
  type StructField,
  type StructValues,
} from "./custom-options.ts";
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
export { ensure } from "./fail.ts";
export { inferBroadcast } from "./ops/_broadcast.ts";
export {
  any,
  bool,
  type ColumnsOf,
  float32,
  int32,
  mayStayZero,
  omittable,
  omittableFrom,
  optional,
  read,
  scalar,
  subgraph,
  tensor,
  variadic,
  wide,
} from "./params.ts";
export { broadcastShape, ensureShape } from "./shape.ts";
export { resize } from "./tensor.ts";
