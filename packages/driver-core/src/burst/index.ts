/**
 * @nnhal/driver-core/burst: executions in rapid succession through a pair of queues in shared memory (HAL 1.2 bursts).
 */

export { blockingSignal, localSignal, type Signal, sharedSignal } from "../memory/signal.ts";
export type { BurstController, BurstExecuteOptions, BurstExecutionResult, BurstOptions } from "./burst.ts";
export type { BurstPort } from "./calls.ts";
export { type Channel, createChannel, openChannel, signalOf } from "./channel.ts";
export {
  type ConfigureExecutionBurst,
  type CreateBurstResult,
  createBurst,
  createPacketBurst,
  type PacketBurstOptions,
} from "./controller.ts";
export { requestData, requestWords, resultData, resultWords } from "./data.ts";
export type { LimitOptions } from "./limits.ts";
export { createLocalBurst, type LocalBurstOptions, withFallback } from "./local.ts";
export type { Malformed } from "./malformed.ts";
export { createMemorySlots, type MemoryKey, type MemorySlots } from "./memory-slots.ts";
export { type PacketEnds, packetEnds } from "./packet-ends.ts";
export { readBurstResult } from "./read-burst-result.ts";
export { writeRequest } from "./request-codec.ts";
export { type BurstResultPacket, readResult, writeResult } from "./result-codec.ts";
export { type RingReader, type RingWriter, ringReader, ringWriter, wordsPerSlot } from "./ring.ts";
export { type BurstContext, type BurstServerOptions, configureExecutionBurst, servePackets } from "./server.ts";
export { connectBurst, type ServedBurst, serveBurst } from "./threads.ts";
export { createTurns, sleepUntil, type Turns } from "./waiting.ts";
