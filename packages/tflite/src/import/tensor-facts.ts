/** The tensors of a subgraph of the file as the HAL sees them: shapes that are valid, constants of the right size, and descriptions. */
import type { StringTensor } from "@nnhal/extension-tflite/types";
import { elementAt } from "@nnhal/operations";
import { ensure, listText, type Place } from "../error.ts";
import type { TfliteSubgraph, TfliteTensor } from "../model.ts";
import type { TensorTypeName } from "../schema/codes.ts";
import type { Constants } from "./constants.ts";
import type { GraphFacts } from "./graph.ts";
import { tensorWhere } from "./lowering/place.ts";
import { elementSize, type OperandSpec, operandSpecOf, typeHelp } from "./operand-types.ts";
import { strings } from "./string-models.ts";

/** The value of a constant without elements. */
const nothing = new Uint8Array(0);

/** More dimensions than any operation takes. */
export const MOST_DIMENSIONS = 32;

/** Facts of tensors, by their places in the subgraph. Each throws a TfliteError for a tensor that the HAL cannot express. */
export interface TensorFacts {
  /** The subgraph's inputs. */
  readonly inputTensors: ReadonlySet<number>;
  placeOf(tensor: number): Place;
  /** The tensor as the file describes it. */
  tensorAt(index: number): TfliteTensor;
  /** The subgraph with the shapes that its tensors turn out to have. */
  readonly settled: TfliteSubgraph;
  /** Extents for the HAL, in which 0 is unknown. */
  dimensions(tensor: number): readonly number[];
  /** The value of a constant, also of a folded one; undefined for any other tensor. */
  constantBytes(tensor: number): Uint8Array | undefined;
  /** True if an INT64 tensor becomes INT32: if it is known to fit, or is a constant; with a dialect that has INT64, one that fits. */
  isNarrowed(tensor: number): boolean;
  /** The operand's description for a tensor; constants of INT64, and those that are known to fit, are INT32. */
  specOf(tensor: number): OperandSpec;
  /** Gives a tensor a value that is known when the model is imported. `shape`: as in .tflite, empty for a scalar. */
  fold(tensor: number, value: Uint8Array, shape: readonly number[]): void;
  /** Replaces the stored type. */
  setType(tensor: number, type: TensorTypeName): void;
  /** Replaces the stored shape. */
  setShape(tensor: number, shape: readonly number[]): void;
}

function indexesOf(list: readonly number[], path: string): Set<number> {
  const seen = new Set<number>();
  for (const index of list) {
    ensure(!seen.has(index), path, () => `tensor ${index} is listed twice`);
    seen.add(index);
  }
  return seen;
}

/** True if all of some INT64 values fit in 32 bits, or say "to the end". */
function fitInt32(bytes: Uint8Array): boolean {
  return new BigInt64Array(new Uint8Array(bytes).buffer).every(
    (value) => value === 2n ** 63n - 1n || BigInt.asIntN(32, value) === value,
  );
}

/** `storedShapes`: extents of the tensors; -1 is unknown. */
export function createTensorFacts(
  subgraph: TfliteSubgraph,
  storedShapes: readonly (readonly number[])[],
  constants: Constants,
  { index, narrow, dialect }: Pick<GraphFacts, "index" | "narrow" | "dialect">,
): TensorFacts {
  const path = `subgraphs[${index}]`;
  const tensors = [...subgraph.tensors];
  const settled = [...tensors];
  const shapes = [...storedShapes];
  const specByTensor = new Map<number, OperandSpec>();
  const folded = new Map<number, Uint8Array>();
  const stringsByTensor = new Map<number, StringTensor>();
  const inputTensors = indexesOf(subgraph.inputs, `${path}.inputs`);
  const written = new Set(subgraph.operators.flatMap(({ outputs }) => outputs));

  const placeOf =
    (tensor: number): Place =>
    () =>
      tensorWhere({ path, index }, tensors, tensor);

  function tensorAt(index: number): TfliteTensor {
    const tensor = tensors[index];
    ensure(tensor !== undefined, path, () => `there is no tensor ${index}; it has ${tensors.length}`);
    return tensor;
  }

  function checkRank(index: number, shape: readonly number[]): void {
    ensure(
      shape.length <= MOST_DIMENSIONS,
      placeOf(index),
      () => `the shape has ${shape.length} dimensions, more than ${MOST_DIMENSIONS}`,
    );
  }

  function dimensions(index: number): readonly number[] {
    tensorAt(index);
    const shape = elementAt(shapes, index);
    if (shape.length === 0) return [1];
    checkRank(index, shape);
    for (const extent of shape) {
      // An extent of 0 is unknown until the execution, in which it may be 0.
      ensure(
        Number.isInteger(extent) && extent >= -1 && extent <= 0x7fff_ffff,
        placeOf(index),
        () => `the extent ${extent} in the shape ${listText(shape)} is not valid`,
      );
    }
    return shape.map((extent) => Math.max(extent, 0));
  }

  /** Refuses a constant whose shape is not known. Returns the bytes of one of its elements. */
  function checkConstantShape(index: number, { shape }: Pick<TfliteTensor, "shape"> = tensorAt(index)): number {
    const { type } = tensorAt(index);
    checkRank(index, shape);
    const size = elementSize(type, dialect);
    ensure(size !== undefined, placeOf(index), () => `the HAL has no tensors of type ${type}`, typeHelp[type]);
    ensure(
      shape.every((extent) => Number.isInteger(extent) && extent >= 0),
      placeOf(index),
      () => `the shape ${listText(shape)} of a constant must be known`,
    );
    return size;
  }

  /** Refuses a constant whose value has not the size of its shape. */
  function checkConstantSize(index: number, data: Uint8Array, shape: readonly number[]): void {
    const { type } = tensorAt(index);
    const needed = shape.reduce((product, extent) => product * extent, checkConstantShape(index, { shape }));
    ensure(
      data.length === needed,
      placeOf(index),
      () => `${type}${listText(shape)} takes ${needed} bytes, its value has ${data.length}`,
    );
  }

  function stringsAt(index: number, data: Uint8Array): StringTensor {
    const known = stringsByTensor.get(index);
    if (known !== undefined) return known;
    checkConstantShape(index);
    const count = tensorAt(index).shape.reduce((product, extent) => product * extent, 1);
    const table = strings().stringTensor(data, count, placeOf(index));
    stringsByTensor.set(index, table);
    return table;
  }

  function constantBytes(index: number): Uint8Array | undefined {
    const known = folded.get(index);
    if (known !== undefined) return known;
    const tensor = tensorAt(index);
    const { isVariable, shape } = tensor;
    const data = tensor.data ?? (shape.includes(0) && !written.has(index) ? nothing : undefined);
    if (isVariable || inputTensors.has(index) || data === undefined) return undefined;
    if (tensor.type === "STRING") return stringsAt(index, data).bytes;
    const elements = constants.elementsOf(tensor, data, checkConstantShape(index), placeOf(index));
    checkConstantSize(index, elements, shape);
    return elements;
  }

  function specOf(index: number): OperandSpec {
    const known = specByTensor.get(index);
    if (known !== undefined) return known;
    const tensor = tensorAt(index);
    const described: OperandSpec = isNarrowed(index)
      ? { type: "TENSOR_INT32", dimensions: dimensions(index), scale: 0, zeroPoint: 0 }
      : operandSpecOf(tensor, dimensions(index), placeOf(index), dialect);
    const spec = withWidth(index, described);
    specByTensor.set(index, spec);
    return spec;
  }

  /** The bytes of a row of a constant of strings. */
  function withWidth(index: number, spec: OperandSpec): OperandSpec {
    const { type, data } = tensorAt(index);
    if (type !== "STRING" || data === undefined || constantBytes(index) === undefined) return spec;
    const width = stringsAt(index, data).dimensions.at(-1) ?? 0;
    return { ...spec, dimensions: spec.dimensions.with(-1, width) };
  }

  function isNarrowed(index: number): boolean {
    if (tensorAt(index).type !== "INT64") return false;
    if (narrow.has(index)) return true;
    const bytes = constantBytes(index);
    return bytes !== undefined && (dialect.typeOf("INT64") === undefined || fitInt32(bytes));
  }

  function setShape(tensor: number, shape: readonly number[]): void {
    shapes[tensor] = shape;
    specByTensor.delete(tensor);
    settled[tensor] = { ...tensorAt(tensor), shape };
  }

  return {
    inputTensors,
    settled: { ...subgraph, tensors: settled },
    placeOf,
    tensorAt,
    dimensions,
    constantBytes,
    isNarrowed,
    specOf,
    fold(tensor, value, shape) {
      checkConstantSize(tensor, value, shape);
      folded.set(tensor, value);
      setShape(tensor, shape);
    },
    setShape,
    setType(tensor, type) {
      tensors[tensor] = { ...tensorAt(tensor), type };
      settled[tensor] = { ...elementAt(settled, tensor), type };
      specByTensor.delete(tensor);
    },
  };
}
