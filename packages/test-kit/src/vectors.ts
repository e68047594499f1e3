/**
 * The conformance vectors as models: each line is read and parsed once in a process. For packages that conformance imports;
 * others read the vectors with conformance itself.
 */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import {
  type Model,
  type Operand,
  type OperandExtraParams,
  OperandLifeTime,
  OperandType,
  OperationType,
  type Subgraph,
} from "@nnhal/types";

/** A vector as its JSON line has it. */
export interface Vector {
  readonly name: string;
  /** Such as `V1_2`; `UNKNOWN` if the source assigns none. */
  readonly minSupportedVersion: string;
  readonly isRelaxed: boolean;
  readonly expectFailure: boolean;
  readonly model: VectorModel;
}

/** A vector with its model, and its file as a path from the vectors' folder. */
export interface VectorFound {
  readonly file: string;
  readonly vector: Vector;
  readonly model: Model;
}

const read = new Map<string, readonly VectorFound[]>();

/** All vectors of a folder, sorted by file; in the order of their lines within one. */
export function vectorsOf(folder: string): readonly VectorFound[] {
  const known = read.get(folder) ?? readVectors(folder);
  read.set(folder, known);
  return known;
}

function readVectors(folder: string): VectorFound[] {
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((file) => file.endsWith(".jsonl.gz"));
  return files.sort().flatMap((file) => {
    const lines = gunzipSync(readFileSync(join(folder, file)))
      .toString("utf8")
      .split("\n");
    return lines
      .filter((line) => line !== "")
      .map((line) => {
        const vector: Vector = JSON.parse(line);
        return { file, vector, model: modelOfVector(vector.model, vector.isRelaxed) };
      });
  });
}

/** The part of a vector that a model is made from. */
interface VectorModel {
  readonly main: VectorSubgraph;
  readonly referenced: readonly VectorSubgraph[];
}

interface VectorSubgraph {
  readonly inputIndexes: readonly number[];
  readonly outputIndexes: readonly number[];
  readonly operations: readonly {
    readonly type: keyof typeof OperationType;
    readonly inputs: readonly number[];
    readonly outputs: readonly number[];
  }[];
  readonly operands: readonly VectorOperand[];
}

interface VectorOperand {
  readonly type: keyof typeof OperandType;
  readonly dimensions: readonly number[];
  readonly scale: number;
  readonly zeroPoint: number;
  readonly lifetime: keyof typeof OperandLifeTime;
  readonly numberOfConsumers: number;
  readonly channelQuant: { readonly scales: readonly number[]; readonly channelDim: number } | null;
  readonly data: string | null;
}

/** Bytes in the order in which they were added, and their number. */
interface Storage {
  readonly chunks: Uint8Array[];
  length: number;
}

/** The model of a vector: CONSTANT_COPY values in operandValues, CONSTANT_REFERENCE values in one pool. */
function modelOfVector(vector: VectorModel, isRelaxed = false): Model {
  const values: Storage = { chunks: [], length: 0 };
  const pool: Storage = { chunks: [], length: 0 };
  const subgraph = ({ operands, operations, inputIndexes, outputIndexes }: VectorSubgraph): Subgraph => ({
    operands: operands.map((operand) => operandOfVector(operand, values, pool)),
    operations: operations.map(({ type, inputs, outputs }) => ({ type: OperationType[type], inputs, outputs })),
    inputIndexes,
    outputIndexes,
  });
  const main = subgraph(vector.main);
  const referenced = vector.referenced.map(subgraph);
  const { buffer } = joinChunks(pool);
  const handle = { kind: "buffer", buffer, byteOffset: 0 } as const;
  return {
    main,
    referenced,
    operandValues: joinChunks(values),
    pools: pool.length > 0 ? [{ name: "ashmem", size: pool.length, handle }] : [],
    relaxComputationFloat32toFloat16: isRelaxed,
    extensionNameToPrefix: [],
  };
}

function operandOfVector(operand: VectorOperand, values: Storage, pool: Storage): Operand {
  const { type, dimensions, scale, zeroPoint, lifetime, numberOfConsumers, channelQuant, data } = operand;
  const bytes = data === null ? new Uint8Array(0) : Uint8Array.from(Buffer.from(data, "base64"));
  let location = { poolIndex: 0, offset: 0, length: 0 };
  if (lifetime === "CONSTANT_COPY") location = store(values, bytes);
  else if (lifetime === "CONSTANT_REFERENCE") location = store(pool, bytes);
  else if (lifetime === "SUBGRAPH") location = { ...location, offset: new DataView(bytes.buffer).getUint32(0, true) };
  const extraParams: OperandExtraParams =
    channelQuant === null ? { kind: "none" } : { kind: "channelQuant", channelQuant };
  return {
    type: OperandType[type],
    dimensions,
    scale,
    zeroPoint,
    lifetime: OperandLifeTime[lifetime],
    numberOfConsumers,
    location,
    extraParams,
  };
}

function store(storage: Storage, bytes: Uint8Array): Operand["location"] {
  const offset = storage.length;
  const padding = (4 - (bytes.length % 4)) % 4;
  storage.chunks.push(bytes, new Uint8Array(padding));
  storage.length += bytes.length + padding;
  return { poolIndex: 0, offset, length: bytes.length };
}

function joinChunks({ chunks, length }: Storage): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(length);
  let offset = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, offset);
    offset += chunk.length;
  }
  return bytes;
}
