/**
 * What travels through the queues of a burst: a packet is a list of data, each one of a few kinds (HAL 1.2
 * FmqRequestDatum and FmqResultDatum). All numbers are unsigned 32 bit integers unless said otherwise.
 */
import type { ErrorStatus, MeasureTiming } from "./enums.ts";
import type { DataLocation } from "./model.ts";
import type { Timing } from "./request.ts";

/** What a request packet holds; its first datum (HAL FmqRequestDatum.PacketInformation). */
export interface RequestPacketInformation {
  /** Data in the packet, this one included. */
  readonly packetSize: number;
  readonly numberOfInputOperands: number;
  readonly numberOfOutputOperands: number;
  readonly numberOfPools: number;
}

/** One argument; its dimensions follow it (HAL FmqRequestDatum.OperandInformation). */
export interface RequestOperandInformation {
  /** The argument is omitted: location all 0, no dimensions. */
  readonly hasNoValue: boolean;
  readonly location: DataLocation;
  /** How many dimension values follow. */
  readonly numberOfDimensions: number;
}

/**
 * A datum of a request packet. The order: packetInformation; for each input inputOperandInformation and its dimension
 * values; the same for each output; a poolIdentifier for each pool; measureTiming.
 */
export type FmqRequestDatum =
  | { readonly kind: "packetInformation"; readonly value: RequestPacketInformation }
  | { readonly kind: "inputOperandInformation"; readonly value: RequestOperandInformation }
  | { readonly kind: "inputOperandDimensionValue"; readonly value: number }
  | { readonly kind: "outputOperandInformation"; readonly value: RequestOperandInformation }
  | { readonly kind: "outputOperandDimensionValue"; readonly value: number }
  /** The slot of a memory, a signed 32 bit integer; what it holds is learnt from getMemories. */
  | { readonly kind: "poolIdentifier"; readonly value: number }
  | { readonly kind: "measureTiming"; readonly value: MeasureTiming };

/** What a result packet holds; its first datum (HAL FmqResultDatum.PacketInformation). */
export interface ResultPacketInformation {
  /** Data in the packet, this one included. */
  readonly packetSize: number;
  /** One that HAL 1.2 knows. */
  readonly errorStatus: ErrorStatus;
  readonly numberOfOperands: number;
}

/** One output; its dimensions follow it (HAL FmqResultDatum.OperandInformation). */
export interface ResultOperandInformation {
  /** Whether the caller's buffer could hold the output. */
  readonly isSufficient: boolean;
  /** How many dimension values follow. */
  readonly numberOfDimensions: number;
}

/**
 * A datum of a result packet. The order: packetInformation; for each output operandInformation and its dimension
 * values; executionTiming.
 */
export type FmqResultDatum =
  | { readonly kind: "packetInformation"; readonly value: ResultPacketInformation }
  | { readonly kind: "operandInformation"; readonly value: ResultOperandInformation }
  | { readonly kind: "operandDimensionValue"; readonly value: number }
  | { readonly kind: "executionTiming"; readonly value: Timing };
