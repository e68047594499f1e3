/** @nnhal/service/shared-memory: memory that processes share, and what they need to pass it to each other and to wait for each other. */
export { type AdoptOptions, adoptMemory, whyCopied } from "./adopt.ts";
export { burstAcrossProcesses } from "./burst-options.ts";
export type { DescriptorChannel, NotPassed } from "./descriptor-channel.ts";
export {
  type ClientSocket,
  connectDescriptors,
  type DescriptorServer,
  type DescriptorSocket,
  type NoSocket,
  serveDescriptors,
} from "./descriptor-socket.ts";
export {
  descriptorWay,
  type FileWay,
  type FolderOptions,
  folderWay,
  type SentFile,
  type SharedCopy,
} from "./file-way.ts";
export { type SharedMemoryForm, sharedMemoryForm } from "./form.ts";
export { blockingFutexSignal, createParking, mappedSignal, type Parking, ringParked } from "./futex-signal.ts";
export type { Credentials } from "./linux.ts";
export {
  createPassing,
  type MemoryPassing,
  type PassedMemory,
  type PassingOptions,
  type TakenFile,
} from "./passing.ts";
export type { NoCredentials } from "./peer-credentials.ts";
export { createSharedMemory, greatestSize, type NoMemory, type SharedMemory } from "./shared-memory.ts";
