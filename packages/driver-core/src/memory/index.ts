/** @nnhal/driver-core/memory: making and mapping memories of the HAL. */
export {
  allocateBlob,
  allocateHardwareBuffer,
  formatName,
  HardwareBufferUsage,
  hardwareBufferFormats,
  hardwareBufferSize,
} from "./hardware-buffer.ts";
export type { Mapping, Unmappable } from "./mapping.ts";
export { allocateMemory, mapMemory, mapPool, memoryOf } from "./memory.ts";
export { type MmapFdIntegers, mmapFdIntegers, mmapFdMemory, Protection } from "./protection.ts";
