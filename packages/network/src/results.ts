/**
 * From the bytes of outputs to what an application gets.
 */
import { elementAt } from "@nnhal/operations";
import { expectAttached } from "./bytes.ts";
import {
  type ArrayOf,
  type ElementArray,
  elementFacts,
  elementsIn,
  type NumberArray,
  realArrayOf,
  realValuesIn,
} from "./elements.ts";
import { check, NetworkError } from "./error.ts";
import type { Value } from "./session.ts";
import { elementsOf } from "./tensor.ts";
import {
  findByName,
  infoText,
  isNumeric,
  listNames,
  type NumericInfo,
  type Tensor,
  type TensorInfo,
} from "./tensor-info.ts";
import { kindOf } from "./values.ts";

/**
 * The outputs of a run by name. Besides its own properties it has, not enumerated: every other name of an output (see `TensorInfo`),
 * `output` if there is only one, and `scores`, the only output with one number for each class. The latter throw a NetworkError
 * (WRONG_NAME) if the model has no such output. The real numbers of `scores` are a Float32Array, whatever type the output has.
 */
export type Outputs<Data extends ElementArray = NumberArray> = Readonly<Record<string, Tensor<Data>>> & {
  readonly output: Tensor<Data>;
  readonly scores: Tensor<ElementArray extends Data ? Data : Float32Array>;
};

/** Memory for outputs, by name. */
export type OutputBuffers = Readonly<Record<string, ElementArray>>;

/** The place in `outputs` of each buffer. Throws a NetworkError for one that no output fits. */
export function placeBuffers(
  buffers: OutputBuffers,
  outputs: readonly TensorInfo[],
  raw: boolean,
): (ElementArray | undefined)[] {
  const placed: (ElementArray | undefined)[] = outputs.map(() => undefined);
  const isObject = typeof buffers === "object" && buffers !== null && !Array.isArray(buffers);
  check(isObject, "BAD_OPTION", () => `outputs: it takes arrays by name; it was given ${kindOf(buffers)}`);
  for (const [name, buffer] of Object.entries(buffers)) {
    const info = findOutput(outputs, name);
    check(
      info !== undefined,
      "WRONG_NAME",
      () => `outputs: there is no output "${name}"; there are: ${listNames(outputs)}`,
    );
    check(
      isNumeric(info),
      "WRONG_TYPE",
      () => `the output ${infoText(info)} has strings, which no array of numbers can hold`,
    );
    const { array, parts = 1 } = elementFacts[info.type];
    const needed: ArrayOf<ElementArray> = raw ? array : realArrayOf(info.type, info.quantization);
    check(
      buffer instanceof needed,
      "WRONG_TYPE",
      () =>
        `the output ${infoText(info)} needs a ${needed.name} for its ${raw ? "elements" : "real values"}; it was given ${kindOf(buffer)}`,
    );
    expectAttached(buffer, `the output ${infoText(info)}`);
    const count = elementsOf(info.shape) * parts;
    // Extents that are open are known after the run.
    const isKnown = info.shape.length > 0 && !info.shape.includes(0);
    check(
      !isKnown || buffer.length === count,
      "WRONG_SIZE",
      () => `the output ${infoText(info)} has ${count} elements; its buffer has room for ${buffer.length}`,
    );
    placed[outputs.indexOf(info)] = buffer;
  }
  return placed;
}

function findOutput(outputs: readonly TensorInfo[], name: string): TensorInfo | undefined {
  const named = findByName(outputs, name);
  if (named !== undefined) return named;
  if (name === "output" && outputs.length === 1) return outputs[0];
  if (name === "scores") return scoresAmong(outputs);
  return undefined;
}

/** The only output with a number for each class: [classes] or [1, classes], with more than one class. */
function scoresAmong(outputs: readonly TensorInfo[]): TensorInfo | undefined {
  const lists = outputs.filter(({ shape, type }) => {
    const isList = shape.length === 1 || (shape.length === 2 && shape[0] === 1);
    return isList && shape.at(-1) !== 1 && type !== "bool" && type !== "string";
  });
  return lists.length === 1 ? lists[0] : undefined;
}

/** The tensor of an output of numbers. */
export function tensorOf(
  info: NumericInfo,
  { bytes, shape }: Value,
  raw: boolean,
  into: ElementArray | undefined,
): Tensor<ElementArray> {
  const { name, type, labels } = info;
  const data = raw ? elementsIn(type, bytes) : realValuesIn(type, info.quantization, bytes);
  return { name, type, shape, data: into === undefined ? data : copyInto(info, data, into), ...(labels && { labels }) };
}

function copyInto(info: TensorInfo, data: ElementArray, into: ElementArray): ElementArray {
  check(
    data.length === into.length,
    "WRONG_SIZE",
    () =>
      `the output ${infoText(info)} has ${data.length} elements in this run; its buffer has room for ${into.length}`,
  );
  // The run may have written to it already.
  if (data.buffer !== into.buffer || data.byteOffset !== into.byteOffset) {
    new Uint8Array(into.buffer, into.byteOffset, into.byteLength).set(
      new Uint8Array(data.buffer, data.byteOffset, data.byteLength),
    );
  }
  return into;
}

/** An output by any of its names; undefined if there is none, as for a name that every object has, such as `constructor`. */
export function outputNamed(outputs: Outputs, name: string): Tensor | undefined {
  return Object.hasOwn(outputs, name) ? outputs[name] : undefined;
}

/** `scores` of real numbers: a Float32Array. */
function asScores(tensor: Tensor<ElementArray>): Tensor<ElementArray> {
  const { data } = tensor;
  return data instanceof Float32Array ? tensor : { ...tensor, data: Float32Array.from(data, Number) };
}

/** The outputs by name. `raw`: elements, not real numbers. */
export function outputsOf(
  infos: readonly TensorInfo[],
  tensors: readonly Tensor<ElementArray>[],
  raw: boolean,
): Outputs<ElementArray> {
  const named = (name: string, tensor: Tensor<ElementArray>) =>
    name === "scores" && !raw && tensor.type !== "string" ? asScores(tensor) : tensor;
  // Own keys, also of names such as __proto__.
  const outputs: Record<string, Tensor<ElementArray>> = Object.fromEntries(
    tensors.map((tensor) => [tensor.name, named(tensor.name, tensor)] as const),
  );
  const others = new Set([...infos.flatMap(({ otherNames }) => otherNames), "output", "scores"]);
  for (const name of others) {
    if (Object.hasOwn(outputs, name)) continue;
    Object.defineProperty(outputs, name, {
      enumerable: false,
      get() {
        const info = findOutput(infos, name);
        const tensor = info && tensors[infos.indexOf(info)];
        if (tensor !== undefined) return named(name, tensor);
        const means =
          name === "scores" ? "no single output has one number for each class" : `no single output is "${name}"`;
        throw new NetworkError("WRONG_NAME", `${means}; the outputs are ${listNames(infos)}`);
      },
    });
  }
  // `output` and `scores` are among the properties now.
  return outputs as Outputs<ElementArray>;
}

/** The tensors of some values. */
export async function tensorsOf(
  infos: readonly TensorInfo[],
  values: readonly Value[],
  raw: boolean,
  into: readonly (ElementArray | undefined)[] = [],
): Promise<Tensor<ElementArray>[]> {
  const strings = infos.every(isNumeric) ? undefined : await import("./strings.ts");
  return infos.map((info, place) => {
    const value = elementAt(values, place);
    if (isNumeric(info)) return tensorOf(info, value, raw, into[place]);
    if (strings === undefined) throw new Error("strings are not loaded");
    return strings.stringTensor(info, value);
  });
}
