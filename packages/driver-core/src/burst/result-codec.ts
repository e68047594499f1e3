/**
 * Results as packets of FmqResultDatum, in the words of a ring's slots, and back.
 */
import { ErrorStatus, type FmqResultDatum, type OutputShape, type Timing } from "@nnhal/types";
import { type Malformed, tryDecode } from "./malformed.ts";
import { type Kinds, packetCursor, repeat } from "./packet-cursor.ts";
import { wordsPerSlot } from "./ring.ts";
import {
  encodeUint64,
  flag,
  int32,
  makeMalformed,
  signedWord,
  uint32,
  uint64,
  unsignedWord,
  wordsFor,
} from "./slot.ts";

/** The content of a result packet. */
export interface BurstResultPacket {
  readonly status: ErrorStatus;
  readonly outputShapes: readonly OutputShape[];
  readonly timing: Timing;
}

/** The number of each kind of datum, in the HAL's order. */
export const resultKinds: Kinds<FmqResultDatum["kind"]> = {
  packetInformation: 1,
  operandInformation: 2,
  operandDimensionValue: 3,
  executionTiming: 4,
};

/**
 * A result as a packet, in a part of `scratch` if that is long enough. `status`: one that HAL 1.2 knows. Throws RangeError for a number that
 * does not fit its field.
 */
export function writeResult({ status, outputShapes, timing }: BurstResultPacket, scratch?: Int32Array): Int32Array {
  const size = outputShapes.reduce((sum, { dimensions }) => sum + 1 + dimensions.length, 2);
  const words = wordsFor(size, scratch);
  words[0] = resultKinds.packetInformation;
  words[1] = uint32(size, "packetSize");
  words[2] = int32(status, "errorStatus");
  words[3] = uint32(outputShapes.length, "numberOfOperands");
  let at = wordsPerSlot;
  for (const { isSufficient, dimensions } of outputShapes) {
    words[at] = resultKinds.operandInformation;
    words[at + 1] = isSufficient ? 1 : 0;
    words[at + 2] = uint32(dimensions.length, "numberOfDimensions");
    at += wordsPerSlot;
    for (const extent of dimensions) {
      words[at] = resultKinds.operandDimensionValue;
      words[at + 1] = uint32(extent, "operandDimensionValue");
      at += wordsPerSlot;
    }
  }
  words[at] = resultKinds.executionTiming;
  encodeUint64(timing.timeOnDevice, words, at + 1, "timeOnDevice");
  encodeUint64(timing.timeInDriver, words, at + 3, "timeInDriver");
  return words;
}

/** Reads a result packet, or reports its first fault. */
export function readResult(words: Int32Array): BurstResultPacket | Malformed {
  return tryDecode(resultIn, words);
}

function resultIn(words: Int32Array): BurstResultPacket {
  const cursor = packetCursor(words, resultKinds);
  const { slots: view } = cursor;
  const head = cursor.take("packetInformation");
  cursor.expectSize(unsignedWord(view, head + 1));
  const status = readStatus(view, head);
  const numberOfOperands = unsignedWord(view, head + 3);
  cursor.need(numberOfOperands + 1, "operands and executionTiming");
  const outputShapes = repeat(numberOfOperands, () => {
    const at = cursor.take("operandInformation");
    const isSufficient = flag(view, at, "isSufficient");
    const numberOfDimensions = unsignedWord(view, at + 2);
    cursor.need(numberOfDimensions, "dimensions");
    const dimensions = repeat(numberOfDimensions, () => unsignedWord(view, cursor.take("operandDimensionValue") + 1));
    return { dimensions, isSufficient };
  });
  const at = cursor.take("executionTiming");
  cursor.end();
  return {
    status,
    outputShapes,
    timing: { timeOnDevice: uint64(view, at + 1), timeInDriver: uint64(view, at + 3) },
  };
}

/** The statuses that a result packet can carry: those of HAL 1.0. */
const statuses: readonly ErrorStatus[] = [
  ErrorStatus.NONE,
  ErrorStatus.DEVICE_UNAVAILABLE,
  ErrorStatus.GENERAL_FAILURE,
  ErrorStatus.OUTPUT_INSUFFICIENT_SIZE,
  ErrorStatus.INVALID_ARGUMENT,
];

/** Maps a status to one that a result packet can carry: HAL 1.2 has no missed deadlines and exhausted resources. */
export function burstStatus(status: ErrorStatus): ErrorStatus {
  return statuses.includes(status) ? status : ErrorStatus.GENERAL_FAILURE;
}

/** The status in the header of a result. Throws MalformedPacket for one that HAL 1.2 does not know. */
export function readStatus(view: DataView, at: number): ErrorStatus {
  const word = signedWord(view, at + 2);
  const status = statuses.find((known) => known === word);
  if (status === undefined) throw makeMalformed(at, `errorStatus is ${word}, which HAL 1.2 does not know`);
  return status;
}
