/** The file of a drawn model. */
import { elementAt } from "@nnhal/operations";
import {
  type TfliteModel,
  type TfliteOperator,
  type TfliteSubgraph,
  type TfliteTensor,
  writeTflite,
} from "@nnhal/tflite";
import { createDraw, type DrawnBody, type DrawnInput, type DrawnModel, type DrawnType } from "./draw.ts";

const arrays = {
  FLOAT32: Float32Array,
  INT8: Int8Array,
  UINT8: Uint8Array,
  INT16: Int16Array,
  INT32: Int32Array,
  BOOL: Uint8Array,
} as const;

/** Elements of a tensor. */
export type DrawnElements = Float32Array | Int8Array | Uint8Array | Int16Array | Int32Array | BigInt64Array;

/** Numbers as elements of a type. Throws for a type that no drawn tensor has. */
export function elementsOfType(type: DrawnType, numbers: readonly number[]): DrawnElements {
  if (type === "INT64") return BigInt64Array.from(numbers, BigInt);
  const array = Object.entries(arrays).find(([name]) => name === type)?.[1];
  if (array === undefined) throw new RangeError(`there are no elements of ${type}`);
  return array.from(numbers);
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
  const { type, shape, data, scale, zeroPoint = 0, axis = 0, isVariable = false } = given;
  const scales = scale === undefined ? [] : [scale].flat();
  return {
    ...{ name, shape, type, isVariable },
    ...(shape.length === 0 && { hasRank: true as const }),
    ...(data && { data: bytesOf(elementsOfType(type, data)) }),
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
  { inputs, outputs, options = {}, bodies = [], version = 1, isCopied = false }: DrawnModel,
  shapes?: readonly (readonly number[])[],
): Uint8Array {
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
