/**
 * Request packets as words of a ring's slots.
 */
import { elementAt } from "@nnhal/operations";
import { type FmqRequestDatum, type FmqRequestOperandInformation, MeasureTiming } from "@nnhal/types";
import { wordsPerSlot } from "./ring.ts";
import { flag, int32, noDatum, uint32, wordsFor } from "./slot.ts";

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
  for (const [index, datum] of data.entries()) {
    const at = index * wordsPerSlot;
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
  const data: FmqRequestDatum[] = [];
  for (let at = 0; at < words.length; at += wordsPerSlot) data.push(requestDatum(words, at));
  return data;
}

function requestDatum(words: Int32Array, at: number): FmqRequestDatum {
  const kind = requestKinds[elementAt(words, at) - 1];
  switch (kind) {
    case "packetInformation":
      return {
        kind,
        packetInformation: {
          packetSize: elementAt(words, at + 1) >>> 0,
          numberOfInputOperands: elementAt(words, at + 2) >>> 0,
          numberOfOutputOperands: elementAt(words, at + 3) >>> 0,
          numberOfPools: elementAt(words, at + 4) >>> 0,
        },
      };
    case "inputOperandInformation":
      return { kind, inputOperandInformation: operandInformation(words, at) };
    case "inputOperandDimensionValue":
      return { kind, inputOperandDimensionValue: elementAt(words, at + 1) >>> 0 };
    case "outputOperandInformation":
      return { kind, outputOperandInformation: operandInformation(words, at) };
    case "outputOperandDimensionValue":
      return { kind, outputOperandDimensionValue: elementAt(words, at + 1) >>> 0 };
    case "poolIdentifier":
      return { kind, poolIdentifier: elementAt(words, at + 1) };
    case "measureTiming":
      return { kind, measureTiming: flag(words, at, "measureTiming") ? MeasureTiming.YES : MeasureTiming.NO };
    default:
      throw noDatum(words, at);
  }
}

function operandInformation(words: Int32Array, at: number): FmqRequestOperandInformation {
  return {
    hasNoValue: flag(words, at, "hasNoValue"),
    location: {
      poolIndex: elementAt(words, at + 2) >>> 0,
      offset: elementAt(words, at + 3) >>> 0,
      length: elementAt(words, at + 4) >>> 0,
    },
    numberOfDimensions: elementAt(words, at + 5) >>> 0,
  };
}
