/**
 * @nnhal/driver-core/memory: making and mapping the memory that crosses the HAL.
 */
export { allocateMemory, mapMemory, memoryOf, type Unmappable } from "./memory.ts";
