/** The tensors of a subgraph of the file as the HAL sees them: shapes that are valid, constants of the right size, and descriptions. */
import type { StringTensor } from "@nnhal/extension-tflite/types";
import { elementAt } from "@nnhal/operations";
import { ensure, listText, type Place } from "../../error.ts";
import type { TfliteSubgraph, TfliteTensor } from "../../model.ts";
import type { TensorTypeName } from "../../schema/codes.ts";
import type { Constants } from "../constants.ts";
import type { GraphFacts } from "../graph.ts";
import { tensorWhere } from "../lowering/place.ts";
import { elementSize, type OperandSpec, operandSpecOf, typeHelp } from "../operand-types.ts";
import { strings } from "../string-models.ts";
import type { GraphState } from "./state.ts";

/** More dimensions than any operation takes. */
export const MOST_DIMENSIONS = 32;

/** The value of a constant without elements. */
const nothing = new Uint8Array(0);

/** A subgraph of the file, with all that does not change while its graph is made. */
export interface GraphSource extends GraphFacts {
  readonly path: string;
  readonly subgraph: TfliteSubgraph;
  /** Extents of its tensors; -1 is unknown. */
  readonly storedShapes: readonly (readonly number[])[];
  readonly constants: Constants;
  readonly inputTensors: ReadonlySet<number>;
  readonly outputTensors: ReadonlySet<number>;
  /** Tensors that operators write. */
  readonly written: ReadonlySet<number>;
  /** Strings of constants that have been read. */
  readonly strings: Map<number, StringTensor>;
}

/** A subgraph of the file, and the state of what is made from it. */
export interface GraphWork {
  readonly source: GraphSource;
  readonly state: GraphState;
}

/** The place of a tensor in problems. */
export function placeOf({ source: { path, index, subgraph } }: GraphWork, tensor: number): Place {
  return () => tensorWhere({ path, index }, subgraph.tensors, tensor);
}

/** A tensor as the file describes it, with the type that it turns out to have. */
export function tensorAt({ source, state }: GraphWork, index: number): TfliteTensor {
  const tensor = state.tensors.get(index) ?? source.subgraph.tensors[index];
  const { length } = source.subgraph.tensors;
  ensure(tensor !== undefined, source.path, () => `there is no tensor ${index}; it has ${length}`);
  return tensor;
}

/** A tensor with the type and shape that it turns out to have; undefined if there is none. */
export function settledTensor({ source, state }: GraphWork, index: number): TfliteTensor | undefined {
  return state.settled.get(index) ?? source.subgraph.tensors[index];
}

/** Extents for the HAL, in which 0 is unknown. */
export function dimensionsOf(work: GraphWork, index: number): readonly number[] {
  tensorAt(work, index);
  const shape = work.state.shapes.get(index) ?? elementAt(work.source.storedShapes, index);
  if (shape.length === 0) return [1];
  checkRank(work, index, shape);
  for (const extent of shape) {
    // An extent of 0 is unknown until the execution, in which it may be 0.
    ensure(
      Number.isInteger(extent) && extent >= -1 && extent <= 0x7fff_ffff,
      placeOf(work, index),
      () => `the extent ${extent} in the shape ${listText(shape)} is not valid`,
    );
  }
  return shape.map((extent) => Math.max(extent, 0));
}

/** The value of a constant, also of a folded one; undefined for any other tensor. */
export function constantBytes(work: GraphWork, index: number): Uint8Array | undefined {
  const { source, state } = work;
  const known = state.folded.get(index);
  if (known !== undefined) return known;
  const tensor = tensorAt(work, index);
  const { isVariable, shape } = tensor;
  const data = tensor.data ?? (shape.includes(0) && !source.written.has(index) ? nothing : undefined);
  if (isVariable || source.inputTensors.has(index) || data === undefined) return undefined;
  if (tensor.type === "STRING") return stringsAt(work, index, data).bytes;
  const size = checkConstantShape(work, index, tensor.shape);
  const elements = source.constants.elementsOf(tensor, data, size, placeOf(work, index));
  checkConstantSize(work, index, elements, shape);
  return elements;
}

/** True if an INT64 tensor becomes INT32: if it is known to fit, or is a constant; with a dialect that has INT64, one that fits. */
export function isNarrowed(work: GraphWork, index: number): boolean {
  if (tensorAt(work, index).type !== "INT64") return false;
  if (work.source.narrow.has(index)) return true;
  const bytes = constantBytes(work, index);
  return bytes !== undefined && (work.source.dialect.typeOf("INT64") === undefined || fitInt32(bytes));
}

/** The operand's description for a tensor; constants of INT64, and those that are known to fit, are INT32. */
export function specOf(work: GraphWork, index: number): OperandSpec {
  const known = work.state.specs.get(index);
  if (known !== undefined) return known;
  const described: OperandSpec = isNarrowed(work, index)
    ? { type: "TENSOR_INT32", dimensions: dimensionsOf(work, index), scale: 0, zeroPoint: 0 }
    : fileSpecOf(work, index);
  const spec = withWidth(work, index, described);
  work.state.specs.set(index, spec);
  return spec;
}

/** The operand's description for a tensor with the type that it has in the file. */
export function fileSpecOf(work: GraphWork, index: number): OperandSpec {
  return operandSpecOf(tensorAt(work, index), dimensionsOf(work, index), placeOf(work, index), work.source.dialect);
}

/** Gives a tensor a value that is known when the model is imported. `shape`: as in .tflite, empty for a scalar. */
export function setValue(work: GraphWork, index: number, value: Uint8Array, shape: readonly number[]): void {
  checkConstantSize(work, index, value, shape);
  work.state.folded.set(index, value);
  replaceShape(work, index, shape);
}

/** Replaces the stored shape. */
export function replaceShape(work: GraphWork, index: number, shape: readonly number[]): void {
  const { shapes, specs, settled } = work.state;
  shapes.set(index, shape);
  specs.delete(index);
  settled.set(index, { ...tensorAt(work, index), shape });
}

/** Replaces the stored type. */
export function replaceType(work: GraphWork, index: number, type: TensorTypeName): void {
  const { tensors, specs, settled } = work.state;
  const known = settledTensor(work, index) ?? tensorAt(work, index);
  tensors.set(index, { ...tensorAt(work, index), type });
  settled.set(index, { ...known, type });
  specs.delete(index);
}

/** True if all of some INT64 values fit in 32 bits, or say "to the end". */
function fitInt32(bytes: Uint8Array): boolean {
  return new BigInt64Array(new Uint8Array(bytes).buffer).every(
    (value) => value === 2n ** 63n - 1n || BigInt.asIntN(32, value) === value,
  );
}

function checkRank(work: GraphWork, index: number, shape: readonly number[]): void {
  ensure(
    shape.length <= MOST_DIMENSIONS,
    placeOf(work, index),
    () => `the shape has ${shape.length} dimensions, more than ${MOST_DIMENSIONS}`,
  );
}

/** Refuses a constant whose shape is not known. Returns the bytes of one of its elements. */
function checkConstantShape(work: GraphWork, index: number, shape: readonly number[]): number {
  const { type } = tensorAt(work, index);
  checkRank(work, index, shape);
  const size = elementSize(type, work.source.dialect);
  ensure(size !== undefined, placeOf(work, index), () => `the HAL has no tensors of type ${type}`, typeHelp[type]);
  ensure(
    shape.every((extent) => Number.isInteger(extent) && extent >= 0),
    placeOf(work, index),
    () => `the shape ${listText(shape)} of a constant must be known`,
  );
  return size;
}

/** Refuses a constant whose value has not the size of its shape. */
function checkConstantSize(work: GraphWork, index: number, data: Uint8Array, shape: readonly number[]): void {
  const { type } = tensorAt(work, index);
  const needed = shape.reduce((product, extent) => product * extent, checkConstantShape(work, index, shape));
  ensure(
    data.length === needed,
    placeOf(work, index),
    () => `${type}${listText(shape)} takes ${needed} bytes, its value has ${data.length}`,
  );
}

function stringsAt(work: GraphWork, index: number, data: Uint8Array): StringTensor {
  const known = work.source.strings.get(index);
  if (known !== undefined) return known;
  const { shape } = tensorAt(work, index);
  checkConstantShape(work, index, shape);
  const count = shape.reduce((product, extent) => product * extent, 1);
  const table = strings().stringTensor(data, count, placeOf(work, index));
  work.source.strings.set(index, table);
  return table;
}

/** The bytes of a row of a constant of strings. */
function withWidth(work: GraphWork, index: number, spec: OperandSpec): OperandSpec {
  const { type, data } = tensorAt(work, index);
  if (type !== "STRING" || data === undefined || constantBytes(work, index) === undefined) return spec;
  const width = stringsAt(work, index, data).dimensions.at(-1) ?? 0;
  return { ...spec, dimensions: spec.dimensions.with(-1, width) };
}
