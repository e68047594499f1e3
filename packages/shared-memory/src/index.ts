/** @nnhal/shared-memory: memory that processes share, and what they need to pass it to each other and to wait for each other. */
export { type AdoptOptions, adoptMemory, whyCopied } from "./adopt.ts";
export { blockingFutexSignal, createParking, mappedSignal, type Parking, ringParked } from "./futex-signal.ts";
export type { Credentials } from "./linux.ts";
export { createSharedMemory, greatestSize, type NoMemory, type SharedMemory } from "./shared-memory.ts";
