/**
 * Writes plain objects as a .tflite file; the inverse of `readTflite`.
 */
import { elementAt } from "@nnhal/operations";
import { Builder } from "flatbuffers/js/builder.js";
import { modelArgument } from "./arguments.ts";
import { ensure } from "./error.ts";
import type { Layout } from "./flatbuffer/table.ts";
import { writeTable } from "./flatbuffer/write-table.ts";
import type {
  TfliteBlocks,
  TfliteExternal,
  TfliteModel,
  TfliteOperator,
  TfliteSparsity,
  TfliteSubgraph,
  TfliteTensor,
} from "./model.ts";
import { type BuiltinOperator, builtinOperators } from "./schema/builtin-operators.ts";
import { tensorTypes } from "./schema/codes.ts";
import { type OptionValue, optionsLayout, optionsTableNames, secondTableCode } from "./schema/options.ts";
import {
  type BlocksRow,
  type BufferRow,
  blocksLayout,
  type DimensionRow,
  type ExternalBufferRow,
  FILE_IDENTIFIER,
  type IndexVectorRow,
  indexVectorLayouts,
  type ModelRow,
  modelLayout,
  type OperatorCodeRow,
  type OperatorRow,
  type SparsityRow,
  type SubgraphRow,
  type TensorRow,
} from "./schema/tables.ts";

/** Offsets of a FlatBuffer have 31 bits, and its builder can double its memory only below this. */
const MOST_BYTES = 2 ** 30;

/** Up to this code the schema's older, 8-bit field holds an operator's code, too. */
const GREATEST_OLD_CODE = 126;
const CODE_IS_ELSEWHERE = 127;

/** The distinct byte ranges that tensors and metadata refer to; the first one is the empty buffer. */
interface BufferList {
  readonly list: Uint8Array[];
  readonly seen: Map<ArrayBufferLike, Map<string, number>>;
  readonly external: ExternalList;
  /** Those behind the FlatBuffer, by their places in the list. */
  readonly behind: Map<number, BufferRow>;
}

function bufferIndex(buffers: BufferList, data: Uint8Array | undefined): number {
  if (data === undefined || data.length === 0) return 0;
  const ranges = buffers.seen.get(data.buffer) ?? new Map<string, number>();
  buffers.seen.set(data.buffer, ranges);
  const range = `${data.byteOffset}+${data.length}`;
  const known = ranges.get(range);
  if (known !== undefined) return known;
  buffers.list.push(data);
  ranges.set(range, buffers.list.length - 1);
  return buffers.list.length - 1;
}

function operatorByName(name: string, path: string): Pick<BuiltinOperator, "code" | "options"> {
  const unknown = /^BUILTIN_(\d{1,9})$/.exec(name);
  if (unknown) return { code: Number(unknown[1]), options: undefined };
  const known = builtinOperators.find((each) => each.name === name);
  ensure(known !== undefined, path, () => `${JSON.stringify(name)} is not a builtin operator`);
  return known;
}

/** Writes a list of indexes as the narrowest vector; returns the union's code and its position. */
function writeIndexes(builder: Builder, values: readonly number[], path: string): { type: number; at: number } {
  const greatest = values.reduce((most, value) => Math.max(most, value), 0);
  const place = greatest <= 0xff ? 2 : greatest <= 0xffff ? 1 : 0;
  const layout: Layout<IndexVectorRow> = elementAt(indexVectorLayouts, place);
  return { type: place + 1, at: writeTable(builder, layout, { values }, path) };
}

function sparsityRow(builder: Builder, sparsity: TfliteSparsity, path: string): SparsityRow {
  const dimMetadata = sparsity.dimensions.map((dimension, i): DimensionRow => {
    if ("size" in dimension) {
      return {
        ...{ format: 0, denseSize: dimension.size, arraySegmentsType: 0, arraySegments: undefined },
        ...{ arrayIndicesType: 0, arrayIndices: undefined },
      };
    }
    const segments = writeIndexes(builder, dimension.segments, `${path}.dimensions[${i}].segments`);
    const indexes = writeIndexes(builder, dimension.indexes, `${path}.dimensions[${i}].indexes`);
    return {
      ...{ format: 1, denseSize: 0, arraySegmentsType: segments.type, arraySegments: segments.at },
      ...{ arrayIndicesType: indexes.type, arrayIndices: indexes.at },
    };
  });
  return { traversalOrder: sparsity.traversalOrder, blockMap: sparsity.blockMap, dimMetadata };
}

function writeBlocks(
  builder: Builder,
  { dimensions, ...blocks }: TfliteBlocks,
  path: string,
): { type: number; at: number } {
  const at = writeTable<BlocksRow>(builder, blocksLayout, { ...blocks, quantizedDimensions: dimensions }, path);
  return { type: dimensions === undefined ? 2 : 3, at };
}

/** The place of a buffer behind the FlatBuffer; 0, the empty one, for another file. */
function behindIndex({ list, behind }: BufferList, { group, offset, length }: TfliteExternal): number {
  if (group !== undefined) return 0;
  behind.set(list.length, { data: undefined, offset, size: length });
  return list.push(new Uint8Array(0)) - 1;
}

/** The external buffers of a model, each range once. */
interface ExternalList {
  readonly groups: Map<string, number>;
  readonly rows: Map<string, ExternalBufferRow>;
}

/** Ids of external buffers have this bit, so that none of them is the place of a buffer. */
const EXTERNAL_ID = 0x8000_0000;

function externalId({ groups, rows }: ExternalList, { group, offset, length }: TfliteExternal): number {
  if (group === undefined) return 0;
  if (!groups.has(group)) groups.set(group, groups.size);
  const key = JSON.stringify([group, offset, length]);
  const id = EXTERNAL_ID + rows.size;
  const row = rows.get(key) ?? { id, group: groups.get(group) ?? 0, offset, length, packing: "unpacked" };
  rows.set(key, row);
  return row.id;
}

function tensorRow(builder: Builder, tensor: TfliteTensor, buffers: BufferList, path: string): TensorRow {
  const { quantization, blocks, external } = tensor;
  const details = blocks && writeBlocks(builder, blocks, `${path}.blocks`);
  const type = tensorTypes.indexOf(tensor.type);
  ensure(type >= 0, `${path}.type`, () => `${tensor.type} is not a tensor type`);
  return {
    shape: tensor.shape,
    type,
    buffer: external === undefined ? bufferIndex(buffers, tensor.data) : behindIndex(buffers, external),
    name: tensor.name,
    quantization: (quantization || details) && {
      min: undefined,
      max: undefined,
      scale: quantization?.scale,
      zeroPoint: quantization?.zeroPoint,
      detailsType: details?.type ?? 0,
      details: details?.at,
      quantizedDimension: quantization?.quantizedDimension ?? 0,
    },
    isVariable: tensor.isVariable,
    sparsity: tensor.sparsity && sparsityRow(builder, tensor.sparsity, `${path}.sparsity`),
    shapeSignature: tensor.shapeSignature,
    hasRank: tensor.hasRank ?? false,
    variantTensors: false,
    externalBuffer: external === undefined ? 0 : externalId(buffers.external, external),
  };
}

/** The fields of an operator's row that hold its options. */
type OptionsFields = Pick<
  OperatorRow,
  "builtinOptionsType" | "builtinOptions" | "builtinOptions2Type" | "builtinOptions2"
>;

const noOptions: OptionsFields = {
  ...{ builtinOptionsType: 0, builtinOptions: undefined },
  ...{ builtinOptions2Type: 0, builtinOptions2: undefined },
};

/** Writes an operator's options; returns their union's code and their position. */
function writeOptions(builder: Builder, operator: TfliteOperator, path: string): OptionsFields {
  const table = operatorByName(operator.name, path).options;
  const given = Object.keys(operator.options);
  if (table === undefined) {
    ensure(given.length === 0, path, () => `${operator.name} has no options, but ${given.join(", ")} are given`);
    return noOptions;
  }
  const layout = optionsLayout(table);
  for (const name of given) {
    ensure(
      Object.hasOwn(layout, name),
      path,
      () => `${operator.name} has no option ${name}, only ${Object.keys(layout)}`,
    );
  }
  if (given.length === 0 && Object.keys(layout).length > 0) return noOptions;
  const row: Record<string, OptionValue | undefined> = Object.fromEntries(
    Object.entries(layout).map(([name, field]) => [name, operator.options[name] ?? field.absent]),
  );
  const at = writeTable(builder, layout, row, path);
  const second = secondTableCode(table);
  return second === undefined
    ? { ...noOptions, builtinOptionsType: optionsTableNames().indexOf(table) + 1, builtinOptions: at }
    : { ...noOptions, builtinOptions2Type: second, builtinOptions2: at };
}

/** The operator codes in use, each combination once. */
function operatorCodes(model: TfliteModel): { rows: OperatorCodeRow[]; indexOf(operator: TfliteOperator): number } {
  const rows: OperatorCodeRow[] = [];
  const indexes = new Map<string, number>();
  const key = (operator: TfliteOperator) => JSON.stringify([operator.name, operator.customCode, operator.version]);
  for (const [g, { operators }] of model.subgraphs.entries()) {
    for (const [i, operator] of operators.entries()) {
      if (indexes.has(key(operator))) continue;
      const { code } = operatorByName(operator.name, `subgraphs[${g}].operators[${i}].name`);
      indexes.set(key(operator), rows.length);
      rows.push({
        deprecatedBuiltinCode: code <= GREATEST_OLD_CODE ? code : CODE_IS_ELSEWHERE,
        customCode: operator.customCode,
        version: operator.version,
        builtinCode: code,
      });
    }
  }
  return { rows, indexOf: (operator) => indexes.get(key(operator)) ?? 0 };
}

function subgraphRow(
  builder: Builder,
  subgraph: TfliteSubgraph,
  buffers: BufferList,
  codeOf: (operator: TfliteOperator) => number,
  path: string,
): SubgraphRow {
  const operators = subgraph.operators.map((operator, i): OperatorRow => {
    const options = writeOptions(builder, operator, `${path}.operators[${i}].options`);
    return {
      opcodeIndex: codeOf(operator),
      inputs: operator.inputs,
      outputs: operator.outputs,
      ...options,
      customOptions: operator.customOptions,
      customOptionsFormat: 0,
      mutatingVariableInputs: operator.mutatingVariableInputs,
      intermediates: operator.intermediates,
      largeCustomOptionsOffset: 0,
      largeCustomOptionsSize: 0,
    };
  });
  return {
    tensors: subgraph.tensors.map((tensor, i) => tensorRow(builder, tensor, buffers, `${path}.tensors[${i}]`)),
    inputs: subgraph.inputs,
    outputs: subgraph.outputs,
    operators,
    name: subgraph.name,
  };
}

/**
 * Writes a model as a .tflite file. Constants lie at multiples of 16 bytes; constants that are the same view of the same
 * memory are written once.
 *
 * @throws TfliteError if the model cannot be written, naming the place.
 */
export function writeTflite(model: TfliteModel): Uint8Array {
  modelArgument(model, "writeTflite");
  const external: ExternalList = { groups: new Map(), rows: new Map() };
  const buffers: BufferList = { list: [new Uint8Array(0)], seen: new Map(), external, behind: new Map() };
  const codes = operatorCodes(model);
  const builder = new Builder(1024);
  const subgraphs = model.subgraphs.map((subgraph, i) =>
    subgraphRow(builder, subgraph, buffers, codes.indexOf, `subgraphs[${i}]`),
  );
  const metadata = model.metadata.map(({ name, data }) => ({ name, buffer: bufferIndex(buffers, data) }));
  const total = buffers.list.reduce((sum, { length }) => sum + length, 0);
  ensure(total < MOST_BYTES, "", () => `${total} bytes of constants are more than a file can hold (${MOST_BYTES})`);
  const row: ModelRow = {
    version: model.version,
    operatorCodes: codes.rows,
    subgraphs,
    description: model.description,
    buffers: buffers.list.map(
      (data, i) => buffers.behind.get(i) ?? { data: i === 0 ? undefined : data, offset: 0, size: 0 },
    ),
    metadataBuffer: undefined,
    metadata: metadata.length > 0 ? metadata : undefined,
    signatureDefs:
      model.signatures.length === 0
        ? undefined
        : model.signatures.map(({ key, subgraph, inputs, outputs }) => ({
            inputs: inputs.map(({ name, tensor }) => ({ name, tensorIndex: tensor })),
            outputs: outputs.map(({ name, tensor }) => ({ name, tensorIndex: tensor })),
            signatureKey: key,
            deprecatedTag: false,
            subgraphIndex: subgraph,
          })),
    externalBufferGroups: external.groups.size > 0 ? [...external.groups.keys()].map((name) => ({ name })) : undefined,
    externalBuffers: external.rows.size > 0 ? [...external.rows.values()] : undefined,
  };
  builder.finish(writeTable(builder, modelLayout, row, "model"), FILE_IDENTIFIER);
  return builder.asUint8Array().slice();
}
