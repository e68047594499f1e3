/**
 * Bursts: executions of one prepared model in rapid succession, through a pair of fast message queues (HAL 1.2). A
 * request is a packet of `FmqRequestDatum`, its result a packet of `FmqResultDatum`; memory is named by slots.
 */

import type { ErrorStatus, MeasureTiming } from "./enums.ts";
import type { Memory } from "./memory.ts";
import type { DataLocation } from "./model.ts";
import type { ExecutionResult, Outcome } from "./outcome.ts";
import type { Request, Timing } from "./request.ts";

/**
 * One element of a request packet, in this order: `packetInformation`; for each input `inputOperandInformation`, then as
 * many `inputOperandDimensionValue` as it says; the same for outputs; a `poolIdentifier` for each pool; `measureTiming`
 * (HAL 1.2 FmqRequestDatum).
 */
export type FmqRequestDatum =
  | { readonly kind: "packetInformation"; readonly packetInformation: FmqRequestPacketInformation }
  | { readonly kind: "inputOperandInformation"; readonly inputOperandInformation: FmqRequestOperandInformation }
  | { readonly kind: "inputOperandDimensionValue"; readonly inputOperandDimensionValue: number }
  | { readonly kind: "outputOperandInformation"; readonly outputOperandInformation: FmqRequestOperandInformation }
  | { readonly kind: "outputOperandDimensionValue"; readonly outputOperandDimensionValue: number }
  /** A slot. */
  | { readonly kind: "poolIdentifier"; readonly poolIdentifier: number }
  | { readonly kind: "measureTiming"; readonly measureTiming: MeasureTiming };

/** Header of a request packet (HAL 1.2 FmqRequestDatum.PacketInformation). */
export interface FmqRequestPacketInformation {
  /** Elements of the packet, this one included. */
  readonly packetSize: number;
  readonly numberOfInputOperands: number;
  readonly numberOfOutputOperands: number;
  readonly numberOfPools: number;
}

/** An argument without its dimensions (HAL 1.2 FmqRequestDatum.OperandInformation). */
export interface FmqRequestOperandInformation {
  readonly hasNoValue: boolean;
  readonly location: DataLocation;
  readonly numberOfDimensions: number;
}

/**
 * One element of a result packet, in this order: `packetInformation`; for each output `operandInformation`, then as many
 * `operandDimensionValue` as it says; `executionTiming` (HAL 1.2 FmqResultDatum).
 */
export type FmqResultDatum =
  | { readonly kind: "packetInformation"; readonly packetInformation: FmqResultPacketInformation }
  | { readonly kind: "operandInformation"; readonly operandInformation: FmqResultOperandInformation }
  | { readonly kind: "operandDimensionValue"; readonly operandDimensionValue: number }
  | { readonly kind: "executionTiming"; readonly executionTiming: Timing };

/** Header of a result packet (HAL 1.2 FmqResultDatum.PacketInformation). */
export interface FmqResultPacketInformation {
  /** Elements of the packet, this one included. */
  readonly packetSize: number;
  /** A status of HAL 1.0. */
  readonly errorStatus: ErrorStatus;
  readonly numberOfOperands: number;
}

/** An output's shape without its dimensions (HAL 1.2 FmqResultDatum.OperandInformation). */
export interface FmqResultOperandInformation {
  readonly isSufficient: boolean;
  readonly numberOfDimensions: number;
}

/** A fast message queue, as one end hands it to the other (HAL fmq_sync). One writes to it, one reads from it. */
export interface FmqDescriptor<Datum extends "FmqRequestDatum" | "FmqResultDatum"> {
  readonly datum: Datum;
  /** The memory of the queue, shared by both ends. Its layout is defined by the implementation of the queue. */
  readonly memory: Memory;
  /** Number of elements that the queue holds. A longer packet cannot be sent. */
  readonly capacity: number;
}

/** The memory of the client of a burst (HAL 1.2 IBurstCallback). */
export interface IBurstCallback {
  /**
   * Returns the memory of each slot, in the order of `slots`, if status is NONE. INVALID_ARGUMENT and no memories: a slot
   * is not in use.
   */
  getMemories(slots: readonly number[]): BurstMemories | Promise<BurstMemories>;
}

/** See `IBurstCallback.getMemories`. */
export interface BurstMemories extends Outcome {
  readonly buffers: readonly Memory[];
}

/** The service's side of a burst (HAL 1.2 IBurstContext). */
export interface IBurstContext {
  /** The client no longer uses a slot. An unknown slot is ignored. */
  freeMemory(slot: number): void;
  /** Ends the burst. HIDL does this when the last reference to an IBurstContext is released. */
  close?(): void;
  /** Resolves when the service's side has ended, or its process is gone. Must not reject. */
  readonly ended?: Promise<void>;
  /**
   * Executes a request of the burst without its queues, after those before it. Only a service in the thread of its
   * caller has this method, and sets a limit to the execution. The answer has a status, shapes and times that a
   * result packet can hold, and may have a message.
   */
  execute?(request: Request, measure: MeasureTiming): Promise<ExecutionResult>;
}
