/**
 * Request packets as words of a ring's slots.
 */

import { type FmqRequestDatum, type FmqRequestOperandInformation, MeasureTiming } from "@nnhal/types";
import { wordsPerSlot } from "./ring.ts";
import { decodeSlots, flag, int32, noDatum, signedWord, uint32, unsignedWord, wordsFor } from "./slot.ts";

const requestKinds = [
  "packetInformation",
  "inputOperandInformation",
  "inputOperandDimensionValue",
  "outputOperandInformation",
  "outputOperandDimensionValue",
  "poolIdentifier",
  "measureTiming",
] as const satisfies readonly FmqRequestDatum["kind"][];

/**
 * Encodes a request packet as words, in a part of `scratch` if that is long enough. Throws RangeError for a number that
 * is not a 32 bit integer.
 */
export function encodeRequest(data: readonly FmqRequestDatum[], scratch?: Int32Array): Int32Array {
  const words = wordsFor(data.length, scratch);
  let at = 0;
  for (const datum of data) {
    words[at] = requestKinds.indexOf(datum.kind) + 1;
    switch (datum.kind) {
      case "packetInformation":
        words[at + 1] = uint32(datum.packetInformation.packetSize, "packetSize");
        words[at + 2] = uint32(datum.packetInformation.numberOfInputOperands, "numberOfInputOperands");
        words[at + 3] = uint32(datum.packetInformation.numberOfOutputOperands, "numberOfOutputOperands");
        words[at + 4] = uint32(datum.packetInformation.numberOfPools, "numberOfPools");
        break;
      case "inputOperandInformation":
        encodeOperand(datum.inputOperandInformation, words, at);
        break;
      case "inputOperandDimensionValue":
        words[at + 1] = uint32(datum.inputOperandDimensionValue, "inputOperandDimensionValue");
        break;
      case "outputOperandInformation":
        encodeOperand(datum.outputOperandInformation, words, at);
        break;
      case "outputOperandDimensionValue":
        words[at + 1] = uint32(datum.outputOperandDimensionValue, "outputOperandDimensionValue");
        break;
      case "poolIdentifier":
        words[at + 1] = int32(datum.poolIdentifier, "poolIdentifier");
        break;
      case "measureTiming":
        words[at + 1] = int32(datum.measureTiming, "measureTiming");
        break;
    }
    at += wordsPerSlot;
  }
  return words;
}

function encodeOperand(information: FmqRequestOperandInformation, words: Int32Array, at: number): void {
  const { hasNoValue, location, numberOfDimensions } = information;
  words[at + 1] = hasNoValue ? 1 : 0;
  words[at + 2] = uint32(location.poolIndex, "poolIndex");
  words[at + 3] = uint32(location.offset, "offset");
  words[at + 4] = uint32(location.length, "length");
  words[at + 5] = uint32(numberOfDimensions, "numberOfDimensions");
}

/** Decodes a request packet. Throws MalformedPacket for a slot without a valid datum. */
export function decodeRequest(words: Int32Array): FmqRequestDatum[] {
  return decodeSlots(words, requestDatum);
}

function requestDatum(slots: DataView, at: number): FmqRequestDatum {
  const kind = requestKinds[signedWord(slots, at) - 1];
  switch (kind) {
    case "packetInformation":
      return {
        kind,
        packetInformation: {
          packetSize: unsignedWord(slots, at + 1),
          numberOfInputOperands: unsignedWord(slots, at + 2),
          numberOfOutputOperands: unsignedWord(slots, at + 3),
          numberOfPools: unsignedWord(slots, at + 4),
        },
      };
    case "inputOperandInformation":
      return { kind, inputOperandInformation: operandInformation(slots, at) };
    case "inputOperandDimensionValue":
      return { kind, inputOperandDimensionValue: unsignedWord(slots, at + 1) };
    case "outputOperandInformation":
      return { kind, outputOperandInformation: operandInformation(slots, at) };
    case "outputOperandDimensionValue":
      return { kind, outputOperandDimensionValue: unsignedWord(slots, at + 1) };
    case "poolIdentifier":
      return { kind, poolIdentifier: signedWord(slots, at + 1) };
    case "measureTiming":
      return { kind, measureTiming: flag(slots, at, "measureTiming") ? MeasureTiming.YES : MeasureTiming.NO };
    default:
      throw noDatum(slots, at);
  }
}

function operandInformation(slots: DataView, at: number): FmqRequestOperandInformation {
  return {
    hasNoValue: flag(slots, at, "hasNoValue"),
    location: {
      poolIndex: unsignedWord(slots, at + 2),
      offset: unsignedWord(slots, at + 3),
      length: unsignedWord(slots, at + 4),
    },
    numberOfDimensions: unsignedWord(slots, at + 5),
  };
}
