/** The file of a drawn model. */
import { elementAt, toFloat16Bits } from "@nnhal/operations";
import {
  type TfliteModel,
  type TfliteOperator,
  type TfliteSubgraph,
  type TfliteTensor,
  writeTflite,
} from "@nnhal/tflite";
import {
  createDraw,
  type DrawnBody,
  type DrawnGraph,
  type DrawnInput,
  type DrawnModel,
  type DrawnType,
} from "./draw.ts";

const arrays = {
  FLOAT64: Float64Array,
  UINT32: Uint32Array,
  FLOAT32: Float32Array,
  INT8: Int8Array,
  UINT8: Uint8Array,
  INT16: Int16Array,
  INT32: Int32Array,
  BOOL: Uint8Array,
} as const;

/** Elements of a tensor. */
export type DrawnElements =
  | Float32Array
  | Float64Array
  | Uint16Array
  | Uint32Array
  | BigUint64Array
  | Int8Array
  | Uint8Array
  | Int16Array
  | Int32Array
  | BigInt64Array;

/** Numbers as elements of a type. Throws for a type that no drawn tensor has. */
export function elementsOfType(type: DrawnType, numbers: readonly number[]): DrawnElements {
  if (type === "INT64") return BigInt64Array.from(numbers, BigInt);
  if (type === "UINT64") return BigUint64Array.from(numbers, BigInt);
  if (type === "FLOAT16") return Uint16Array.from(numbers, toFloat16Bits);
  if (type === "INT4") return Uint8Array.from(nibbles(numbers));
  const array = Object.entries(arrays).find(([name]) => name === type)?.[1];
  if (array === undefined) throw new RangeError(`there are no elements of ${type}`);
  return array.from(numbers);
}

/** Two elements in each byte, the first in the lower half. */
function nibbles(numbers: readonly number[]): number[] {
  return Array.from(
    { length: Math.ceil(numbers.length / 2) },
    (_, at) => ((numbers[2 * at] ?? 0) & 15) | (((numbers[2 * at + 1] ?? 0) & 15) << 4),
  );
}

/** The bytes of strings: how many there are, where each begins and the last ends, and their characters. */
function bytesOfStrings(strings: readonly string[]): Uint8Array {
  const bytes = strings.map((text) => new TextEncoder().encode(text));
  const head = 4 * (strings.length + 2);
  const ends = bytes.map((_, at) => bytes.slice(0, at + 1).reduce((sum, { length }) => sum + length, head));
  const numbers = new Uint8Array(Int32Array.of(strings.length, head, ...ends).buffer);
  return Uint8Array.from([...numbers, ...bytes.flatMap((each) => [...each])]);
}

/** Elements from their bytes. */
export function elementsOfBytes(type: DrawnType, bytes: Uint8Array): DrawnElements {
  const { buffer } = bytes.slice();
  if (type === "INT64") return new BigInt64Array(buffer);
  const array = Object.entries(arrays).find(([name]) => name === type)?.[1];
  if (array === undefined) throw new RangeError(`there are no elements of ${type}`);
  return new array(buffer);
}

export function bytesOf(elements: DrawnElements): Uint8Array {
  return new Uint8Array(elements.buffer, elements.byteOffset, elements.byteLength);
}

/** Default ranges of random elements. */
function rangeOf({ type, range }: DrawnInput): readonly [number, number] {
  if (range !== undefined) return range;
  if (type === "UINT8") return [0, 255];
  if (type === "INT8") return [-128, 127];
  if (type === "INT16") return [-32768, 32767];
  if (type === "BOOL") return [0, 1];
  return type === "FLOAT32" ? [-4, 4] : [-100, 100];
}

/** Random elements of the model's inputs. */
export function drawElements({ inputs }: DrawnModel, seed: number): DrawnElements[] {
  const random = createDraw(seed);
  return modelInputs(inputs).map((input) => {
    const [least, greatest] = rangeOf(input);
    const size = input.shape.reduce((product, extent) => product * extent, 1);
    const draw = () =>
      input.type === "FLOAT32" ? least + random.next() * (greatest - least) : random.int(least, greatest);
    return elementsOfType(input.type, Array.from({ length: size }, draw));
  });
}

function modelInputs(inputs: DrawnModel["inputs"]): DrawnInput[] {
  return inputs.flatMap((input) =>
    input === undefined || input.data !== undefined || input.isVariable ? [] : [input],
  );
}

function tensorOf(given: DrawnInput, name: string): TfliteTensor {
  const { type, shape, data, strings, scale, zeroPoint = 0, axis = 0, isVariable = false } = given;
  const scales = scale === undefined ? [] : [scale].flat();
  return {
    ...{ name, shape, type, isVariable },
    ...(shape.length === 0 && { hasRank: true as const }),
    ...(data && { data: bytesOf(elementsOfType(type, data)) }),
    ...(strings && { data: bytesOfStrings(strings) }),
    ...(scales.length > 0 && {
      quantization: {
        scale: scales.map(Math.fround),
        zeroPoint: scales.map(() => zeroPoint),
        quantizedDimension: axis,
      },
    }),
  };
}

/** The bytes of a file. `shapes`: those of the outputs that it stores. Default: none. */
export function fileOf(
  operator: string,
  { inputs, outputs, options = {}, bodies = [], version = 1, isCopied = false, graphs }: DrawnModel,
  shapes?: readonly (readonly number[])[],
): Uint8Array {
  if (graphs !== undefined) {
    const subgraphs = graphs.map((graph, at) => subgraphOf(graph, at === 0 ? shapes : undefined));
    return writeTflite({ version: 3, description: "", subgraphs, metadata: [], signatures: [] });
  }
  const tensors: TfliteTensor[] = [];
  const add = (tensor: TfliteTensor) => tensors.push(tensor) - 1;
  const places = inputs.map((input, at) => (input === undefined ? -1 : add(tensorOf(input, `in${at}`))));
  const results = outputs.map((output, at) => {
    const shape = shapes?.[at];
    const { hasRank: _, ...tensor } = tensorOf({ ...output, shape: shape ?? [] }, `out${at}`);
    return add({ ...tensor, ...(shape !== undefined && { hasRank: true as const }) });
  });
  const given = inputs.flatMap((input, at) =>
    input === undefined || input.data !== undefined || input.isVariable ? [] : [places[at] ?? -1],
  );
  const operation: TfliteOperator = { name: operator, version, inputs: places, outputs: results, options };
  const copies = isCopied
    ? results.map((place) => {
        const tensor = elementAt(tensors, place);
        return add({ ...tensor, name: `copy${place}`, type: copiedType(tensor.type) });
      })
    : results;
  const copying = isCopied
    ? results.map((place, at) => copyOf(place, elementAt(copies, at), elementAt(tensors, place).type))
    : [];
  const operators = [operation, ...copying];
  const main: TfliteSubgraph = { name: "main", tensors, operators, inputs: given, outputs: copies };
  const model: TfliteModel = {
    version: 3,
    description: "",
    subgraphs: [main, ...bodies.map(bodyOf)],
    metadata: [],
    signatures: [],
  };
  return writeTflite(model);
}

/** A subgraph of several operators. `shapes`: those of its outputs. Default: none. */
function subgraphOf(
  { tensors, operators, inputs, outputs }: DrawnGraph,
  shapes: readonly (readonly number[])[] | undefined,
): TfliteSubgraph {
  const names = Object.keys(tensors);
  const placeOf = (name: string | undefined) => {
    const place = name === undefined ? -1 : names.indexOf(name);
    if (name !== undefined && place < 0) throw new RangeError(`there is no tensor ${name}`);
    return place;
  };
  return {
    name: "graph",
    tensors: Object.entries(tensors).map(([name, given]) => {
      const shape = shapes?.[outputs.indexOf(name)] ?? given.shape;
      const { hasRank, ...tensor } = tensorOf({ ...given, shape: shape ?? [] }, name);
      return { ...tensor, ...(shape !== undefined && hasRank && { hasRank }) };
    }),
    operators: operators.map(({ name, options = {}, ...operator }) => ({
      ...{ name, version: 1, options },
      ...{ inputs: operator.inputs.map(placeOf), outputs: operator.outputs.map(placeOf) },
    })),
    inputs: inputs.map(placeOf),
    outputs: outputs.map(placeOf),
  };
}

/** The type of a copied result: the older build gives no INT64. */
export function copiedType(type: DrawnType): DrawnType {
  return type === "INT64" ? "INT32" : type;
}

function copyOf(from: number, to: number, type: DrawnType): TfliteOperator {
  if (type !== "INT64") return { name: "MAXIMUM", version: 1, inputs: [from, from], outputs: [to], options: {} };
  const options = { inDataType: "INT64", outDataType: "INT32" };
  return { name: "CAST", version: 1, inputs: [from], outputs: [to], options };
}

function bodyOf({ operator, inputs, output }: DrawnBody, at: number): TfliteSubgraph {
  const tensors = [...inputs, output].map((given, place) => tensorOf(given, `body${at}_${place}`));
  const all = inputs.map((_, place) => place);
  const isFused = ["ADD", "SUB", "MUL"].includes(operator);
  const options = isFused ? { fusedActivationFunction: "NONE" } : {};
  const operation: TfliteOperator = { name: operator, version: 1, inputs: all, outputs: [inputs.length], options };
  return { name: `body${at}`, tensors, operators: [operation], inputs: all, outputs: [inputs.length] };
}
