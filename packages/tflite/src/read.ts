/**
 * Reads a .tflite file into plain objects. Bounded and total: for any bytes the result is a model whose indexes are all valid, or one
 * TfliteError. Indexes that are out of range can be listed, too.
 */
import { fileArgument, type TfliteBytes } from "./arguments.ts";
import { ensure, fail } from "./error.ts";
import { checkRange, openSource, type Source } from "./flatbuffer/source.ts";
import { readTable } from "./flatbuffer/table.ts";
import { indexProblems, noSuch, operatorPlace, type TfliteIssue } from "./indexes.ts";
import type {
  TfliteBlocks,
  TfliteModel,
  TfliteOperator,
  TfliteQuantization,
  TfliteSignature,
  TfliteSparseDimension,
  TfliteSparsity,
  TfliteSubgraph,
  TfliteTensor,
} from "./model.ts";
import { outsides } from "./outsides.ts";
import type { ReadingOptions } from "./ranges.ts";
import { readRoot } from "./root.ts";
import { builtinOperators } from "./schema/builtin-operators.ts";
import { tensorTypes } from "./schema/codes.ts";
import { type OptionValue, optionsLayout, optionsTableNames, secondTableCode } from "./schema/options.ts";
import {
  type BlocksRow,
  type BufferRow,
  blocksLayout,
  type IndexVectorRow,
  indexVectorLayouts,
  type ModelRow,
  type OperatorCodeRow,
  type OperatorRow,
  type QuantizationRow,
  type SparsityRow,
  type SubgraphRow,
  type TensorRow,
} from "./schema/tables.ts";

/** The lists that the parts of a file refer to. */
interface Context {
  readonly source: Source;
  readonly codes: readonly OperatorCodeRow[];
  /** The bytes of each buffer; undefined for an empty one. */
  readonly buffers: readonly (Uint8Array | undefined)[];
  readonly rows: readonly BufferRow[];
  readonly beside: Beside;
  /** The same if something was given that may be behind the file. */
  readonly behind: Beside | undefined;
  /** Called for an index that is out of range. */
  onIssue(path: string, message: string): void;
}

/** An entry of a list of the file; undefined, and an issue, if there is none. */
function entry<T>({ onIssue }: Context, list: readonly T[], index: number, path: string, what: string): T | undefined {
  if (index >= list.length) onIssue(path, noSuch(what, index, "file", list.length));
  return list[index];
}

/** Finds what lies outside of the file; it is made when it is needed. */
type Beside = () => ReturnType<ReturnType<typeof outsides>["openBeside"]>;

/** Bytes that lie behind the FlatBuffer of a very large file; offsets 0 and 1 mean none. */
function outside(
  source: Source,
  beside: Beside | undefined,
  offset: number,
  length: number,
  path: string,
): Uint8Array | undefined {
  if (offset <= 1) return undefined;
  if (beside && offset + length > source.bytes.length) return beside().find({ offset, length }, path);
  checkRange(source, offset, length, path);
  return source.bytes.subarray(offset, offset + length);
}

/** Where a constant lies that is behind the part of the file that was read. */
function placeBehind({ rows, source }: Context, { buffer }: TensorRow): Pick<TfliteTensor, "external"> {
  const { data, offset = 0, size: length = 0 } = rows[buffer] ?? {};
  return data?.length || offset + length <= source.bytes.length ? {} : { external: { offset, length } };
}

function bufferBytes(source: Source, beside: Beside | undefined, row: BufferRow, path: string): Uint8Array | undefined {
  const bytes = row.data?.length ? row.data : outside(source, beside, row.offset, row.size, path);
  return bytes?.length ? bytes : undefined;
}

function quantization(row: QuantizationRow | undefined, path: string): TfliteQuantization | undefined {
  if (row === undefined) return undefined;
  const { scale = [], zeroPoint = [], quantizedDimension } = row;
  if (scale.length === 0) return undefined;
  ensure(
    zeroPoint.length === scale.length || zeroPoint.length === 0,
    path,
    () => `${zeroPoint.length} zero points for ${scale.length} scales`,
  );
  return { scale, zeroPoint: zeroPoint.length === 0 ? scale.map(() => 0) : zeroPoint, quantizedDimension };
}

/** A user's own details say nothing to TensorFlow Lite. */
const OWN_DETAILS = 1;
const BLOCKS = 2;
const BLOCKS_OF_DIMENSIONS = 3;

function blocks({ source }: Context, row: QuantizationRow | undefined, path: string): TfliteBlocks | undefined {
  const { detailsType = 0, details } = row ?? {};
  ensure(detailsType <= BLOCKS_OF_DIMENSIONS, path, () => `quantisation details of kind ${detailsType} are not known`);
  if (detailsType <= OWN_DETAILS || details === undefined) return undefined;
  const {
    scales,
    zeroPoints,
    blockSize,
    quantizedDimensions = [],
  } = readTable<BlocksRow>(source, blocksLayout, details, path);
  return { scales, zeroPoints, blockSize, ...(detailsType > BLOCKS && { dimensions: quantizedDimensions }) };
}

/** A list of indexes; its kind of vector is `type`. */
function indexes({ source }: Context, type: number, position: number | undefined, path: string): readonly number[] {
  const layout = indexVectorLayouts[type - 1];
  ensure(layout !== undefined || type === 0, path, () => `vectors of indexes of kind ${type} are not known`);
  if (layout === undefined || position === undefined) return [];
  return readTable<IndexVectorRow>(source, layout, position, path).values ?? [];
}

function sparsity(context: Context, row: SparsityRow, path: string): TfliteSparsity {
  const { traversalOrder = [], blockMap = [], dimMetadata = [] } = row;
  const dimensions = dimMetadata.map((each, i): TfliteSparseDimension => {
    const place = `${path}.dimMetadata[${i}]`;
    ensure(each.format === 0 || each.format === 1, place, () => `format ${each.format} is not known`);
    if (each.format === 0) return { size: each.denseSize };
    return {
      segments: indexes(context, each.arraySegmentsType, each.arraySegments, `${place}.arraySegments`),
      indexes: indexes(context, each.arrayIndicesType, each.arrayIndices, `${place}.arrayIndices`),
    };
  });
  return { traversalOrder, blockMap, dimensions };
}

function tensor(context: Context, row: TensorRow, path: string): TfliteTensor {
  const type = tensorTypes[row.type];
  ensure(type !== undefined, `${path}.type`, () => `tensor type ${row.type} is not known`);
  // Buffer 0 is the empty one by convention, and old files without a list of buffers mean that too.
  const data = row.buffer === 0 ? undefined : entry(context, context.buffers, row.buffer, `${path}.buffer`, "buffer");
  const affine = quantization(row.quantization, `${path}.quantization`);
  const inBlocks = blocks(context, row.quantization, `${path}.quantization.details`);
  return {
    name: row.name ?? "",
    shape: row.shape ?? [],
    ...(row.shapeSignature?.length && { shapeSignature: row.shapeSignature }),
    type,
    ...(data && { data }),
    ...(context.behind && data && placeBehind(context, row)),
    ...(row.externalBuffer !== 0 && context.beside().external(row, path)),
    isVariable: row.isVariable,
    ...(affine && { quantization: affine }),
    ...(inBlocks && { blocks: inBlocks }),
    ...(row.hasRank && { hasRank: true }),
    ...(row.sparsity && { sparsity: sparsity(context, row.sparsity, `${path}.sparsity`) }),
  };
}

function options(context: Context, row: OperatorRow, code: number, path: string): Record<string, OptionValue> {
  const expected = builtinOperators[code]?.options;
  if (expected === undefined) return {};
  const second = secondTableCode(expected);
  const isFirst = second === undefined;
  const [type, position] = isFirst
    ? [row.builtinOptionsType, row.builtinOptions]
    : [row.builtinOptions2Type, row.builtinOptions2];
  if (type === 0 || position === undefined) return {};
  const wanted = second ?? optionsTableNames().indexOf(expected) + 1;
  const actual = (isFirst && optionsTableNames()[type - 1]) || `options of kind ${type}`;
  ensure(type === wanted, path, () => `carries ${actual} where ${expected} belong`);
  const values = readTable(context.source, optionsLayout(expected), position, path);
  const known: Record<string, OptionValue> = {};
  for (const [name, value] of Object.entries(values)) if (value !== undefined) known[name] = value;
  return known;
}

/** Replaces an operator code that the file lacks. */
const noCode: OperatorCodeRow = { deprecatedBuiltinCode: 0, customCode: undefined, version: 1, builtinCode: 0 };

function operator(context: Context, row: OperatorRow, subgraphPath: string, index: number): TfliteOperator {
  const path = `${subgraphPath}.operators[${index}]`;
  const codeRow = entry(context, context.codes, row.opcodeIndex, `${path}.opcodeIndex`, "operator code") ?? noCode;
  const code = Math.max(codeRow.builtinCode, codeRow.deprecatedBuiltinCode);
  ensure(code >= 0, `${path}.opcodeIndex`, () => `operator code ${code} is negative`);
  const name = builtinOperators[code]?.name ?? `BUILTIN_${code}`;
  const place = operatorPlace(subgraphPath, index, name);
  const { intermediates = [], mutatingVariableInputs = [] } = row;
  const custom =
    row.customOptions ??
    outside(
      context.source,
      context.behind,
      row.largeCustomOptionsOffset,
      row.largeCustomOptionsSize,
      `${place}.customOptions`,
    );
  return {
    name,
    ...(codeRow.customCode !== undefined && { customCode: codeRow.customCode }),
    ...(custom && { customOptions: custom }),
    version: codeRow.version,
    inputs: row.inputs ?? [],
    outputs: row.outputs ?? [],
    options: codeRow === noCode ? {} : options(context, row, code, `${place}.options`),
    ...(intermediates.length > 0 && { intermediates }),
    ...(mutatingVariableInputs.length > 0 && { mutatingVariableInputs }),
  };
}

function subgraph(context: Context, row: SubgraphRow, path: string): TfliteSubgraph {
  const tensors = (row.tensors ?? []).map((each, i) => tensor(context, each, `${path}.tensors[${i}]`));
  return {
    name: row.name ?? "",
    tensors,
    operators: (row.operators ?? []).map((each, i) => operator(context, each, path, i)),
    inputs: row.inputs ?? [],
    outputs: row.outputs ?? [],
  };
}

function signatures({ signatureDefs = [] }: ModelRow): TfliteSignature[] {
  return signatureDefs.map(({ signatureKey, subgraphIndex, inputs, outputs }) => {
    const named = (list: typeof inputs = []) =>
      list.map(({ name = "", tensorIndex }) => ({ name, tensor: tensorIndex }));
    return { key: signatureKey ?? "", subgraph: subgraphIndex, inputs: named(inputs), outputs: named(outputs) };
  });
}

/** Reads a file whose indexes may be out of range; `onIssue` is called for each that is. */
function readFile(bytes: Uint8Array, options: ReadingOptions, onIssue: Context["onIssue"]): TfliteModel {
  const source = openSource(bytes);
  const row = readRoot(source);
  let found: ReturnType<Beside> | undefined;
  const beside = () => (found ??= outsides().openBeside(options, row, onIssue));
  // Options that are not an object are refused by the import.
  const behind = options?.outside && beside;
  const buffers = (row.buffers ?? []).map((each, i) => bufferBytes(source, behind, each, `buffers[${i}]`));
  const context: Context = {
    source,
    codes: row.operatorCodes ?? [],
    buffers,
    rows: row.buffers ?? [],
    beside,
    behind,
    onIssue,
  };
  const subgraphs = (row.subgraphs ?? []).map((each, i) => subgraph(context, each, `subgraphs[${i}]`));
  ensure(subgraphs.length > 0, "model.subgraphs", () => "the file has no subgraph");
  const model: TfliteModel = {
    version: row.version,
    description: row.description ?? "",
    subgraphs,
    metadata: (row.metadata ?? []).map((each, i) => ({
      name: each.name ?? "",
      data: entry(context, buffers, each.buffer, `metadata[${i}].buffer`, "buffer") ?? new Uint8Array(0),
    })),
    signatures: signatures(row),
  };
  for (const { path, message } of indexProblems(model)) onIssue(path, message);
  return model;
}

/**
 * Reads a .tflite file. Constants are views of `bytes`, and of those outside, which must not change while the model is in use.
 *
 * @throws TfliteError if the bytes are not a well-formed .tflite file. In a browser, for a file with constants outside of it: a
 *   NotLoadedError, see whenLoaded of `@nnhal/operations`.
 */
export function readTflite(bytes: TfliteBytes, options: ReadingOptions = {}): TfliteModel {
  return readFile(fileArgument(bytes, "readTflite"), options, fail);
}

/** The default limit of `tfliteIssues`. */
const DEFAULT_ISSUE_LIMIT = 1000;

/**
 * Lists the indexes of a .tflite file that are out of range: those of tensors, buffers, operator codes and subgraphs.
 * `readTflite` refuses a file that has one. `limit`: the most issues that are returned.
 *
 * @throws TfliteError if the bytes are not a .tflite file, or are broken in another way.
 */
export function tfliteIssues(
  bytes: TfliteBytes,
  limit = DEFAULT_ISSUE_LIMIT,
  options: ReadingOptions = {},
): readonly TfliteIssue[] {
  const issues: TfliteIssue[] = [];
  readFile(fileArgument(bytes, "tfliteIssues"), options, (path, message) => {
    if (issues.length < limit) issues.push({ path, message });
  });
  return issues;
}
