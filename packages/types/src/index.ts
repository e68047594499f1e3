/**
 * @nnhal/types: the vocabulary of the NN HAL. Enum tables, canonical structs and the device contract; no behaviour.
 */
export * from "./capabilities.ts";
export * from "./constants.ts";
export * from "./device.ts";
export * from "./enums.ts";
export * from "./memory.ts";
export * from "./model.ts";
export * from "./operand-type.ts";
export * from "./operation-type.ts";
export * from "./request.ts";
export * from "./table.ts";
export * from "./version.ts";
