/**
 * Requests as packets of FmqRequestDatum, in the words of a ring's slots, and back.
 */
import { type FmqRequestDatum, MeasureTiming, type Request, type RequestArgument } from "@nnhal/types";
import { type Malformed, tryDecode } from "./malformed.ts";
import { type Kinds, type PacketCursor, packetCursor, repeat } from "./packet-cursor.ts";
import { wordsPerSlot } from "./ring.ts";
import { flag, int32, signedWord, uint32, unsignedWord, wordsFor } from "./slot.ts";

/** The content of a request packet: a request whose pools are slots. */
export interface BurstRequest {
  readonly inputs: readonly RequestArgument[];
  readonly outputs: readonly RequestArgument[];
  /** The slot of each pool. */
  readonly slots: readonly number[];
  readonly measure: MeasureTiming;
}

type Kind = FmqRequestDatum["kind"];

/** The number of each kind of datum, in the HAL's order. */
export const requestKinds: Kinds<Kind> = {
  packetInformation: 1,
  inputOperandInformation: 2,
  inputOperandDimensionValue: 3,
  outputOperandInformation: 4,
  outputOperandDimensionValue: 5,
  poolIdentifier: 6,
  measureTiming: 7,
};

/** The number of data in a request's packet. */
export function requestPacketSize({ inputs, outputs, pools }: Request): number {
  return packetSize(inputs, outputs, pools.length);
}

function packetSize(
  inputs: readonly RequestArgument[],
  outputs: readonly RequestArgument[],
  numberOfPools: number,
): number {
  let size = 2 + inputs.length + outputs.length + numberOfPools;
  for (const { dimensions } of inputs) size += dimensions.length;
  for (const { dimensions } of outputs) size += dimensions.length;
  return size;
}

/**
 * A request as a packet, in a part of `scratch` if that is long enough. `slots`: one for each pool. Throws RangeError for a number that is
 * not a 32 bit integer.
 */
export function writeRequest(
  { inputs, outputs }: Request,
  measure: MeasureTiming,
  slots: readonly number[],
  scratch?: Int32Array,
): Int32Array {
  const size = packetSize(inputs, outputs, slots.length);
  const words = wordsFor(size, scratch);
  words[0] = requestKinds.packetInformation;
  words[1] = uint32(size, "packetSize");
  words[2] = uint32(inputs.length, "numberOfInputOperands");
  words[3] = uint32(outputs.length, "numberOfOutputOperands");
  words[4] = uint32(slots.length, "numberOfPools");
  let at = wordsPerSlot;
  for (const argument of inputs) at = writeArgument(argument, "input", words, at);
  for (const argument of outputs) at = writeArgument(argument, "output", words, at);
  for (const slot of slots) {
    words[at] = requestKinds.poolIdentifier;
    words[at + 1] = int32(slot, "poolIdentifier");
    at += wordsPerSlot;
  }
  words[at] = requestKinds.measureTiming;
  words[at + 1] = int32(measure, "measureTiming");
  return words;
}

/** Writes an argument and its dimensions. Returns the word behind them. */
function writeArgument(
  { hasNoValue, location, dimensions }: RequestArgument,
  side: "input" | "output",
  words: Int32Array,
  start: number,
): number {
  words[start] = requestKinds[`${side}OperandInformation`];
  words[start + 1] = hasNoValue ? 1 : 0;
  words[start + 2] = uint32(location.poolIndex, "poolIndex");
  words[start + 3] = uint32(location.offset, "offset");
  words[start + 4] = uint32(location.length, "length");
  words[start + 5] = uint32(dimensions.length, "numberOfDimensions");
  let at = start + wordsPerSlot;
  for (const extent of dimensions) {
    words[at] = requestKinds[`${side}OperandDimensionValue`];
    words[at + 1] = uint32(extent, "dimension");
    at += wordsPerSlot;
  }
  return at;
}

/** Reads a request packet, or reports its first fault. The request is not validated here. */
export function readRequest(words: Int32Array): BurstRequest | Malformed {
  return tryDecode(requestIn, words);
}

function requestIn(words: Int32Array): BurstRequest {
  const cursor = packetCursor(words, requestKinds);
  const { slots: view } = cursor;
  const head = cursor.take("packetInformation");
  cursor.expectSize(unsignedWord(view, head + 1));
  const numberOfInputs = unsignedWord(view, head + 2);
  const numberOfOutputs = unsignedWord(view, head + 3);
  const numberOfPools = unsignedWord(view, head + 4);
  // Counts come from the other end: check that so many data are there before a count is used.
  cursor.need(numberOfInputs + numberOfOutputs + numberOfPools + 1, "operands, pools and measureTiming");
  const inputs = repeat(numberOfInputs, () => takeArgument(cursor, "input"));
  const outputs = repeat(numberOfOutputs, () => takeArgument(cursor, "output"));
  const slots = repeat(numberOfPools, () => signedWord(view, cursor.take("poolIdentifier") + 1));
  const isMeasured = flag(view, cursor.take("measureTiming"), "measureTiming");
  cursor.end();
  return { inputs, outputs, slots, measure: isMeasured ? MeasureTiming.YES : MeasureTiming.NO };
}

function takeArgument(cursor: PacketCursor<Kind>, side: "input" | "output"): RequestArgument {
  const { slots: view } = cursor;
  const at = cursor.take(`${side}OperandInformation`);
  const numberOfDimensions = unsignedWord(view, at + 5);
  cursor.need(numberOfDimensions, "dimensions");
  return {
    hasNoValue: flag(view, at, "hasNoValue"),
    location: {
      poolIndex: unsignedWord(view, at + 2),
      offset: unsignedWord(view, at + 3),
      length: unsignedWord(view, at + 4),
    },
    dimensions: repeat(numberOfDimensions, () => unsignedWord(view, cursor.take(`${side}OperandDimensionValue`) + 1)),
  };
}
