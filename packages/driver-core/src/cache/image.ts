/**
 * A prepared model as the content of two files: the model file contains what decides which computation runs, the data
 * file the values that it uses. The model file contains length and digest of the data file.
 */
import type { CacheBlobs, CompileOptions, GraphSource } from "@nnhal/backend";
import { ExecutionPreference, type Model, Priority } from "@nnhal/types";
import {
  bytes as byteList,
  type Codec,
  decode,
  encode,
  type FieldCodecs,
  flag,
  list,
  type ModelStructure,
  mapCodec,
  modelStructure,
  struct,
  UnreadableBytes,
  uint8,
  uint32,
} from "@nnhal/utils/codec";
import { nodeModule } from "@nnhal/utils/node";
import { memoryOf } from "../memory/memory.ts";
import { alignLength, alignment, gatherConstants } from "./constants.ts";

/** The content of a cache. */
export interface CachedModel {
  readonly source: Pick<GraphSource, "model" | "pools">;
  readonly options: CompileOptions;
  /** The backend's blobs; undefined if it has none and the model must be compiled again. */
  readonly blobs: CacheBlobs | undefined;
}

/** The bytes of the two files. */
export interface Image {
  readonly model: Uint8Array;
  readonly data: Uint8Array;
}

/** The decoded model file, behind the structure of the model. */
interface Rest {
  readonly options: Pick<CompileOptions, "preference" | "priority">;
  /** True if the backend has blobs; if not, the lists are empty. */
  readonly hasBlobs: boolean;
  readonly modelBlobs: readonly Uint8Array[];
  /** Bytes of the data file. */
  readonly dataLength: number;
  readonly dataDigest: Uint8Array;
  readonly operandValuesLength: number;
  /** Bytes of pool 0. */
  readonly constantsLength: number;
  readonly dataBlobLengths: readonly number[];
}

/** The decoded model file. */
export interface ModelPart extends Rest {
  readonly structure: ModelStructure;
}

/** Encodes a prepared model. Throws if a part does not fit in the HAL's 32 bits. */
export function imageOf(source: GraphSource, options: CompileOptions, blobs: CacheBlobs | undefined): Image {
  const { operandValues } = source.model;
  const { structure, pieces } = gatherConstants(source);
  const dataBlobs = blobs?.data ?? [];
  const data = concatenate([operandValues, ...pieces, ...dataBlobs]);
  const part: Rest = {
    options,
    hasBlobs: blobs !== undefined,
    modelBlobs: blobs?.model ?? [],
    dataLength: data.length,
    dataDigest: digestOf(data),
    operandValuesLength: operandValues.length,
    constantsLength: pieces.reduce((size, { length }) => size + alignLength(length), 0),
    dataBlobLengths: dataBlobs.map(({ length }) => length),
  };
  return { model: encode(modelPart, { structure, ...part }), data };
}

/** Concatenates pieces, each at the next multiple of `alignment`. */
function concatenate(sections: readonly Uint8Array[]): Uint8Array {
  const all = new Uint8Array(sections.reduce((size, { length }) => size + alignLength(length), 0));
  let at = 0;
  for (const section of sections) {
    all.set(section, at);
    at += alignLength(section.length);
  }
  return all;
}

const digests = () => nodeModule("node:crypto", "a compilation cache");

function digestOf(data: Uint8Array): Uint8Array {
  return digests().createHash("sha256").update(data).digest();
}

/** A code that is a member of an enum. */
function member<Code extends number>(codes: Readonly<Record<string, Code>>): Codec<Code> {
  const read = (value: number): Code => {
    const code = Object.values(codes).find((known) => known === value);
    if (code === undefined) throw new UnreadableBytes(`it is ${value}, which is not valid`);
    return code;
  };
  return mapCodec<Code, number>(uint8, (code) => code, read);
}

const restFields: FieldCodecs<Rest> = {
  options: struct<ModelPart["options"]>({ preference: member(ExecutionPreference), priority: member(Priority) }),
  hasBlobs: flag,
  modelBlobs: list(byteList),
  dataLength: uint32,
  dataDigest: byteList,
  operandValuesLength: uint32,
  constantsLength: uint32,
  dataBlobLengths: list(uint32),
};

const rest: Codec<Rest> = struct(restFields);

/** The content of a model file. */
const modelPart: Codec<ModelPart> = struct<ModelPart>({ structure: modelStructure, ...restFields });

/** The length of a model's structure at the start of a model file; undefined if the file holds a model of another structure. */
export function structureLength(source: GraphSource, bytes: Uint8Array): number | undefined {
  const structure = encode(modelStructure, gatherConstants(source).structure);
  const head = bytes.subarray(0, structure.length);
  return head.length === structure.length && digests().timingSafeEqual(structure, head) ? structure.length : undefined;
}

/**
 * Reads the prepared model of a model file, with a caller's model in place of the stored one; undefined if the backend needs
 * the data file. `length`: length of the structure, which both models share. Throws UnreadableBytes if the file is not valid.
 * The bytes belong to the result afterwards.
 */
export function partOf(source: GraphSource, bytes: Uint8Array, length: number): CachedModel | undefined {
  const { options, hasBlobs, modelBlobs, dataBlobLengths } = decode(rest, bytes.subarray(length));
  if (!hasBlobs || dataBlobLengths.length > 0) return undefined;
  const [first, ...others] = modelBlobs;
  const blobs = first === undefined ? [] : [alignInPlace(first), ...others.map((blob) => new Uint8Array(blob))];
  return { source, options, blobs: { model: blobs, data: [] } };
}

/**
 * Moves some bytes down in their buffer, to the next place at which a backend can read any elements in them. A copy would take the
 * memory of the whole model again. What lies before them is overwritten.
 */
function alignInPlace(bytes: Uint8Array): Uint8Array {
  const { buffer, byteOffset, length } = bytes;
  const begin = byteOffset - (byteOffset % alignment);
  const all = new Uint8Array(buffer);
  return all.copyWithin(begin, byteOffset, byteOffset + length).subarray(begin, begin + length);
}

/** Decodes a model file. Throws UnreadableBytes if it is not valid. The bytes must not change afterwards. */
export function readModelPart(bytes: Uint8Array): ModelPart {
  const part = decode(modelPart, bytes);
  const { dataLength, operandValuesLength, constantsLength, dataBlobLengths } = part;
  const sum = [operandValuesLength, constantsLength, ...dataBlobLengths].reduce(
    (size, one) => size + alignLength(one),
    0,
  );
  if (sum !== dataLength)
    throw new UnreadableBytes(`the sections of the data file have ${sum} bytes, not ${dataLength}`);
  return part;
}

/** Returns true if the data file has the length and digest in the model file. */
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
    at += alignLength(length);
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
    blobs: part.hasBlobs ? { model: part.modelBlobs.map((blob) => new Uint8Array(blob)), data: dataBlobs } : undefined,
  };
}
