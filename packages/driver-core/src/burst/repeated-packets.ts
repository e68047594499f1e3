/**
 * Requests and results follow one another with the same content: memories, places and shapes. Each side keeps the last packet in both
 * directions, so that one that repeats it is neither decoded nor encoded again.
 */
import type { MeasureTiming, Request, RequestArgument } from "@nnhal/types";
import { areEqualArguments } from "../guard/known-request.ts";
import { decoded, type Malformed } from "./malformed.ts";
import { type BurstRequest, deserializeRequest, serializeRequest } from "./request-codec.ts";
import { decodeRequest, encodeRequest } from "./request-slots.ts";
import { type BurstResultPacket, deserializeResult, serializeResult } from "./result-codec.ts";
import { decodeResult, encodeResult } from "./result-slots.ts";
import { wordsPerSlot } from "./ring.ts";

/** Words of a packet that is kept at most. */
const mostWords = 64 * wordsPerSlot;

/** Decodes request packets. The content is frozen if it is kept. */
export function requestDecoder(): (packet: Int32Array) => BurstRequest | Malformed {
  return remembering((packet) => {
    const data = decoded(decodeRequest, packet);
    return "malformed" in data ? data : deserializeRequest(data);
  });
}

/** Decodes result packets. The content is frozen if it is kept. */
export function resultDecoder(): (packet: Int32Array) => BurstResultPacket | Malformed {
  return remembering((packet) => {
    const data = decoded(decodeResult, packet);
    return "malformed" in data ? data : deserializeResult(data);
  });
}

function remembering<Content extends object>(
  decode: (packet: Int32Array) => Content | Malformed,
): (packet: Int32Array) => Content | Malformed {
  let words: Int32Array | undefined;
  let content: Content | undefined;
  return (packet) => {
    if (content !== undefined && words !== undefined && areSame(packet, words)) return content;
    const made = decode(packet);
    if (packet.length <= mostWords && !("malformed" in made)) {
      words = packet.slice();
      content = frozen(made);
    }
    return made;
  };
}

/** Several users get one content: none of them can change it for the others. */
function frozen<Value>(value: Value): Value {
  if (typeof value === "object" && value !== null && !Object.isFrozen(value)) {
    for (const part of Object.values(value)) frozen(part);
    Object.freeze(value);
  }
  return value;
}

function areSame(a: Int32Array, b: Int32Array): boolean {
  if (a.length !== b.length) return false;
  for (let index = 0; index < a.length; index++) if (a[index] !== b[index]) return false;
  return true;
}

/** Encodes requests. The packet is valid until the next call. Throws RangeError for a number that a packet cannot hold. */
export function requestEncoder(): (request: Request, measure: MeasureTiming, slots: readonly number[]) => Int32Array {
  const scratch = new Int32Array(mostWords);
  let last: (BurstRequest & { readonly packet: Int32Array }) | undefined;
  return (request, measure, slots) => {
    if (last !== undefined && last.measure === measure && areSameNumbers(slots, last.slots)) {
      const { inputs, outputs } = request;
      if (areEqualArguments(inputs, last.inputs) && areEqualArguments(outputs, last.outputs)) return last.packet;
    }
    last = undefined;
    const copy: BurstRequest = {
      inputs: request.inputs.map(copyOf),
      outputs: request.outputs.map(copyOf),
      slots,
      measure,
    };
    const packet = encodeRequest(serializeRequest({ ...copy, pools: request.pools }, measure, slots), scratch);
    if (packet.buffer === scratch.buffer) last = { ...copy, packet };
    return packet;
  };
}

function copyOf({ hasNoValue, location, dimensions }: RequestArgument): RequestArgument {
  const { poolIndex, offset, length } = location;
  return { hasNoValue, location: { poolIndex, offset, length }, dimensions: [...dimensions] };
}

function areSameNumbers(a: readonly number[], b: readonly number[]): boolean {
  if (a.length !== b.length) return false;
  for (let index = 0; index < a.length; index++) if (a[index] !== b[index]) return false;
  return true;
}

/** Encodes results. The packet is valid until the next call. Throws RangeError for a number that a packet cannot hold. */
export function resultEncoder(): (result: BurstResultPacket) => Int32Array {
  const scratch = new Int32Array(mostWords);
  let last: (BurstResultPacket & { readonly packet: Int32Array }) | undefined;
  return (result) => {
    const { status, outputShapes, timing } = result;
    if (last !== undefined && last.status === status && last.timing === timing && isRepeated(result, last)) {
      return last.packet;
    }
    last = undefined;
    const copy: BurstResultPacket = {
      status,
      outputShapes: outputShapes.map(({ dimensions, isSufficient }) => ({ dimensions: [...dimensions], isSufficient })),
      timing,
    };
    const packet = encodeResult(serializeResult(copy), scratch);
    if (packet.buffer === scratch.buffer) last = { ...copy, packet };
    return packet;
  };
}

function isRepeated({ outputShapes }: BurstResultPacket, last: BurstResultPacket): boolean {
  if (outputShapes.length !== last.outputShapes.length) return false;
  for (let index = 0; index < outputShapes.length; index++) {
    const shape = outputShapes[index];
    const known = last.outputShapes[index];
    if (shape === undefined || known === undefined || shape.isSufficient !== known.isSufficient) return false;
    if (!areSameNumbers(shape.dimensions, known.dimensions)) return false;
  }
  return true;
}
