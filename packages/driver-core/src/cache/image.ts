/**
 * A prepared model as the content of two files: the model file contains what decides which computation runs, the data
 * file the values that it uses. The model file contains length and digest of the data file.
 */
import type { CacheBlobs, CompileOptions, GraphSource } from "@nnhal/backend";
import { ExecutionPreference, type Model, Priority } from "@nnhal/types";
import { nodeModule } from "@nnhal/utils";
import { memoryOf } from "../memory/memory.ts";
import { byteReader, byteWriter, UnreadableBytes } from "./bytes.ts";
import { aligned, gatherConstants } from "./constants.ts";
import { type ModelStructure, readModel, writeModel } from "./model-codec.ts";

/** The content of a cache. */
export interface CachedModel {
  readonly source: Pick<GraphSource, "model" | "pools">;
  readonly options: CompileOptions;
  /** The backend's blobs; undefined if it has none, and the model has to be compiled again. */
  readonly blobs: CacheBlobs | undefined;
}

/** The bytes of the two files. */
export interface Image {
  readonly model: Uint8Array;
  readonly data: Uint8Array;
}

/** The decoded model file. */
export interface ModelPart {
  readonly structure: ModelStructure;
  readonly options: CompileOptions;
  /** Null if the backend has no blobs. */
  readonly modelBlobs: readonly Uint8Array[] | null;
  /** Bytes of the data file. */
  readonly dataLength: number;
  readonly dataDigest: Uint8Array;
  readonly operandValuesLength: number;
  /** Bytes of pool 0. */
  readonly constantsLength: number;
  readonly dataBlobLengths: readonly number[];
}

/** Encodes a prepared model. Throws if a part does not fit in the HAL's 32 bits. */
export function imageOf(source: GraphSource, options: CompileOptions, blobs: CacheBlobs | undefined): Image {
  const { operandValues } = source.model;
  const { structure, pieces } = gatherConstants(source);
  const dataBlobs = blobs?.data ?? [];
  const data = concatenated([operandValues, ...pieces, ...dataBlobs]);
  const to = byteWriter();
  writeModel(structure, to);
  to.uint8(options.preference);
  to.uint8(options.priority);
  to.uint8(blobs === undefined ? 0 : 1);
  to.list(blobs?.model ?? [], to.bytes);
  to.uint32(data.length);
  to.bytes(digestOf(data));
  to.uint32(operandValues.length);
  to.uint32(pieces.reduce((size, { length }) => size + aligned(length), 0));
  to.list(dataBlobs, ({ length }) => to.uint32(length));
  return { model: to.taken(), data };
}

/** Concatenates pieces, each at the next multiple of `alignment`. */
function concatenated(sections: readonly Uint8Array[]): Uint8Array {
  const all = new Uint8Array(sections.reduce((size, { length }) => size + aligned(length), 0));
  let at = 0;
  for (const section of sections) {
    all.set(section, at);
    at += aligned(section.length);
  }
  return all;
}

const digests = () => nodeModule("node:crypto", "a compilation cache");

function digestOf(data: Uint8Array): Uint8Array {
  return digests().createHash("sha256").update(data).digest();
}

/** Decodes a model file. Throws UnreadableBytes if it is not valid. The bytes must not change afterwards. */
export function readModelPart(bytes: Uint8Array): ModelPart {
  const from = byteReader(bytes);
  const structure = readModel(from);
  const preference = from.uint8("the preference");
  const priority = from.uint8("the priority");
  const hasBlobs = from.uint8("whether there are blobs");
  const modelBlobs = from.list(4, "blobs", () => new Uint8Array(from.bytes("a blob")));
  const dataLength = from.uint32("the length of the data file");
  const part = {
    structure,
    options: {
      preference: memberOf(ExecutionPreference, preference, "preference"),
      priority: memberOf(Priority, priority, "priority"),
    },
    modelBlobs: hasBlobs === 0 ? null : modelBlobs,
    dataLength,
    dataDigest: from.bytes("the digest of the data file"),
    operandValuesLength: from.uint32("the length of operandValues"),
    constantsLength: from.uint32("the length of the constants"),
    dataBlobLengths: from.list(4, "lengths of blobs", () => from.uint32("the length of a blob")),
  };
  from.end();
  const lengths = [part.operandValuesLength, part.constantsLength, ...part.dataBlobLengths];
  const sum = lengths.reduce((size, length) => size + aligned(length), 0);
  if (sum !== dataLength)
    throw new UnreadableBytes(`the sections of the data file have ${sum} bytes, not ${dataLength}`);
  return part;
}

function memberOf<Code extends number>(codes: Readonly<Record<string, Code>>, value: number, what: string): Code {
  const code = Object.values(codes).find((known) => known === value);
  if (code === undefined) throw new UnreadableBytes(`the ${what} is ${value}, which is not valid`);
  return code;
}

/** Whether the data file has the length and digest in the model file. */
export function isDataOf({ dataLength, dataDigest }: ModelPart, data: Uint8Array): boolean {
  if (data.length !== dataLength) return false;
  const actual = digestOf(data);
  return actual.length === dataDigest.length && digests().timingSafeEqual(actual, dataDigest);
}

/** The prepared model of both files. Its constants are views on the data. */
export function modelOf(part: ModelPart, data: Uint8Array): CachedModel {
  let at = 0;
  const take = (length: number): Uint8Array => {
    const section = data.subarray(at, at + length);
    at += aligned(length);
    return section;
  };
  const operandValues = take(part.operandValuesLength);
  const constants = take(part.constantsLength);
  const dataBlobs = part.dataBlobLengths.map(take);
  const pools = constants.length > 0 ? [constants] : [];
  const model: Model = { ...part.structure, operandValues, pools: pools.map(memoryOf) };
  return {
    source: { model, pools },
    options: part.options,
    blobs: part.modelBlobs === null ? undefined : { model: part.modelBlobs, data: dataBlobs },
  };
}
