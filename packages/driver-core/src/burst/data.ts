/**
 * Packets as lists of data, as the HAL declares them: for programs that look at packets or break them, such as the kit. Neither end of a burst
 * needs them.
 */
import {
  type FmqRequestDatum,
  type FmqRequestOperandInformation,
  type FmqResultDatum,
  MeasureTiming,
} from "@nnhal/types";
import { MalformedPacket } from "./malformed.ts";
import type { Kinds } from "./packet-cursor.ts";
import { requestKinds } from "./request-codec.ts";
import { readStatus, resultKinds } from "./result-codec.ts";
import { wordsPerSlot } from "./ring.ts";
import { encodeUint64, flag, int32, noDatum, signedWord, uint32, uint64, unsignedWord, wordsFor } from "./slot.ts";

/** The words of a request packet. Throws RangeError for a number that does not fit its field. */
export function requestWords(data: readonly FmqRequestDatum[]): Int32Array {
  const words = wordsFor(data.length, undefined);
  let at = 0;
  for (const datum of data) {
    words[at] = requestKinds[datum.kind];
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

/** The data of a request packet. Throws MalformedPacket for a slot without a valid datum. */
export function requestData(words: Int32Array): FmqRequestDatum[] {
  return dataIn(words, requestDatum);
}

function requestDatum(slots: DataView, at: number): FmqRequestDatum {
  const kind = kindAt(slots, at, requestKinds);
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

/** The words of a result packet. Throws RangeError for a number that does not fit its field. */
export function resultWords(data: readonly FmqResultDatum[]): Int32Array {
  const words = wordsFor(data.length, undefined);
  let at = 0;
  for (const datum of data) {
    words[at] = resultKinds[datum.kind];
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

/** The data of a result packet. Throws MalformedPacket for a slot without a valid datum. */
export function resultData(words: Int32Array): FmqResultDatum[] {
  return dataIn(words, resultDatum);
}

function resultDatum(slots: DataView, at: number): FmqResultDatum {
  const kind = kindAt(slots, at, resultKinds);
  switch (kind) {
    case "packetInformation":
      return {
        kind,
        packetInformation: {
          packetSize: unsignedWord(slots, at + 1),
          errorStatus: readStatus(slots, at),
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

function kindAt<Kind extends string>(slots: DataView, at: number, kinds: Kinds<Kind>): Kind | undefined {
  const found = signedWord(slots, at);
  const names = Object.keys(kinds) as Kind[];
  return names.find((name) => kinds[name] === found);
}

function dataIn<Datum>(words: Int32Array, decode: (slots: DataView, at: number) => Datum): Datum[] {
  const { buffer, byteOffset, byteLength, length } = words;
  if (length % wordsPerSlot !== 0)
    throw new MalformedPacket(`the packet has ${length} words, which are not whole slots`);
  const slots = new DataView(buffer, byteOffset, byteLength);
  const data: Datum[] = [];
  for (let at = 0; at < length; at += wordsPerSlot) data.push(decode(slots, at));
  return data;
}
