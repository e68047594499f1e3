/**
 * Result packets as words of a ring's slots.
 */

import { ErrorStatus, type FmqResultDatum } from "@nnhal/types";
import { wordsPerSlot } from "./ring.ts";
import {
  decodeSlots,
  encodeUint64,
  flag,
  int32,
  malformed,
  noDatum,
  signedWord,
  uint32,
  uint64,
  unsignedWord,
  wordsFor,
} from "./slot.ts";

const resultKinds = [
  "packetInformation",
  "operandInformation",
  "operandDimensionValue",
  "executionTiming",
] as const satisfies readonly FmqResultDatum["kind"][];

/**
 * Encodes a result packet as words, in a part of `scratch` if that is long enough. Throws RangeError for a number that
 * does not fit its field.
 */
export function encodeResult(data: readonly FmqResultDatum[], scratch?: Int32Array): Int32Array {
  const words = wordsFor(data.length, scratch);
  let at = 0;
  for (const datum of data) {
    words[at] = resultKinds.indexOf(datum.kind) + 1;
    switch (datum.kind) {
      case "packetInformation":
        words[at + 1] = uint32(datum.packetInformation.packetSize, "packetSize");
        words[at + 2] = int32(datum.packetInformation.errorStatus, "errorStatus");
        words[at + 3] = uint32(datum.packetInformation.numberOfOperands, "numberOfOperands");
        break;
      case "operandInformation":
        words[at + 1] = datum.operandInformation.isSufficient ? 1 : 0;
        words[at + 2] = uint32(datum.operandInformation.numberOfDimensions, "numberOfDimensions");
        break;
      case "operandDimensionValue":
        words[at + 1] = uint32(datum.operandDimensionValue, "operandDimensionValue");
        break;
      case "executionTiming":
        encodeUint64(datum.executionTiming.timeOnDevice, words, at + 1, "timeOnDevice");
        encodeUint64(datum.executionTiming.timeInDriver, words, at + 3, "timeInDriver");
        break;
    }
    at += wordsPerSlot;
  }
  return words;
}

/** Decodes a result packet. Throws MalformedPacket for a slot without a valid datum. */
export function decodeResult(words: Int32Array): FmqResultDatum[] {
  return decodeSlots(words, resultDatum);
}

function resultDatum(slots: DataView, at: number): FmqResultDatum {
  const kind = resultKinds[signedWord(slots, at) - 1];
  switch (kind) {
    case "packetInformation":
      return {
        kind,
        packetInformation: {
          packetSize: unsignedWord(slots, at + 1),
          errorStatus: errorStatus(slots, at),
          numberOfOperands: unsignedWord(slots, at + 3),
        },
      };
    case "operandInformation":
      return {
        kind,
        operandInformation: {
          isSufficient: flag(slots, at, "isSufficient"),
          numberOfDimensions: unsignedWord(slots, at + 2),
        },
      };
    case "operandDimensionValue":
      return { kind, operandDimensionValue: unsignedWord(slots, at + 1) };
    case "executionTiming":
      return {
        kind,
        executionTiming: { timeOnDevice: uint64(slots, at + 1), timeInDriver: uint64(slots, at + 3) },
      };
    default:
      throw noDatum(slots, at);
  }
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

function errorStatus(slots: DataView, at: number): ErrorStatus {
  const word = signedWord(slots, at + 2);
  const status = statuses.find((known) => known === word);
  if (status === undefined) throw malformed(at, `errorStatus is ${word}, which HAL 1.2 does not know`);
  return status;
}
