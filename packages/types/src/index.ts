/**
 * @nnhal/types: the vocabulary of the NN HAL. Enum tables, canonical structs, the device contract, and what each HAL
 * version makes of them (`V1_0` to `V1_3`); no behaviour.
 */
export * from "./buffer.ts";
export * from "./burst.ts";
export * from "./cache.ts";
export * from "./capabilities.ts";
export * from "./constants.ts";
export * from "./device.ts";
export * from "./enums.ts";
export * from "./fence.ts";
export * from "./memory.ts";
export * from "./model.ts";
export * from "./operand-type.ts";
export * from "./operation-type.ts";
export * from "./request.ts";
export * from "./table.ts";
export * from "./time.ts";
export * as V1_0 from "./v1-0.ts";
export * as V1_1 from "./v1-1.ts";
export * as V1_2 from "./v1-2.ts";
export * as V1_3 from "./v1-3.ts";
export * from "./version.ts";
