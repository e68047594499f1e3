/** @nnhal/driver-core/memory: making and mapping memories of the HAL. */
export { copyFile } from "./file-copy.ts";
export {
  allocateBlob,
  allocateHardwareBuffer,
  formatName,
  HardwareBufferUsage,
  hardwareBufferFormats,
  hardwareBufferSize,
} from "./hardware-buffer.ts";
export type { Mapping, Unmappable } from "./mapping.ts";
export { allocateMemory, mapAnew, mapMemory, mapPool, mappedMemory, memoryOf } from "./memory.ts";
export { greatestView } from "./native.ts";
export { type MmapFdIntegers, mmapFdIntegers, mmapFdMemory, Protection } from "./protection.ts";
export { type NoSystemLibrary, type SystemFunction, type SystemLibrary, systemLibrary } from "./system-library.ts";
export { type BufferTracker, createBufferTracker } from "./tracker.ts";
