/**
 * Result packets as words of a ring's slots.
 */
import { elementAt } from "@nnhal/operations";
import { ErrorStatus, type FmqResultDatum } from "@nnhal/types";
import { wordsPerSlot } from "./ring.ts";
import { encodeUint64, flag, int32, malformed, noDatum, uint32, uint64, wordsFor } from "./slot.ts";

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
  for (const [index, datum] of data.entries()) {
    const at = index * wordsPerSlot;
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
  }
  return words;
}

/** Decodes a result packet. Throws MalformedPacket for a slot without a valid datum. */
export function decodeResult(words: Int32Array): FmqResultDatum[] {
  const data: FmqResultDatum[] = [];
  for (let at = 0; at < words.length; at += wordsPerSlot) data.push(resultDatum(words, at));
  return data;
}

function resultDatum(words: Int32Array, at: number): FmqResultDatum {
  const kind = resultKinds[elementAt(words, at) - 1];
  switch (kind) {
    case "packetInformation":
      return {
        kind,
        packetInformation: {
          packetSize: elementAt(words, at + 1) >>> 0,
          errorStatus: errorStatus(words, at),
          numberOfOperands: elementAt(words, at + 3) >>> 0,
        },
      };
    case "operandInformation":
      return {
        kind,
        operandInformation: {
          isSufficient: flag(words, at, "isSufficient"),
          numberOfDimensions: elementAt(words, at + 2) >>> 0,
        },
      };
    case "operandDimensionValue":
      return { kind, operandDimensionValue: elementAt(words, at + 1) >>> 0 };
    case "executionTiming":
      return {
        kind,
        executionTiming: { timeOnDevice: uint64(words, at + 1), timeInDriver: uint64(words, at + 3) },
      };
    default:
      throw noDatum(words, at);
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

function errorStatus(words: Int32Array, at: number): ErrorStatus {
  const status = statuses.find((known) => known === words[at + 2]);
  if (status === undefined) throw malformed(at, `errorStatus is ${words[at + 2]}, which HAL 1.2 does not know`);
  return status;
}
