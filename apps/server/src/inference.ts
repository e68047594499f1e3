/** The steps from a request to its response: the model's inputs, the requested outputs, and the best classes. */
import { expectValid, RequestError } from "./errors.ts";
import type { InferRequest, RequestedOutput } from "./request.ts";
import type { ModelDescription, ServedTensor } from "./runner.ts";
import { countOf, isByteList, numbersOf, type Tensor } from "./tensors.ts";

/** Returns the inputs of a request in the model's order, under the model's names. Throws a RequestError. */
export function inputsFor({ inputs: wanted }: ModelDescription, { inputs }: InferRequest): readonly Tensor[] {
  const placed: (Tensor | undefined)[] = wanted.map(() => undefined);
  for (const tensor of inputs) {
    const place = findTensor(wanted, tensor.name);
    const served = wanted[place];
    expectValid(served !== undefined, () => `the model has no input "${tensor.name}"; it has ${listOf(wanted)}`);
    expectValid(placed[place] === undefined, () => `the input "${served.name}" is given twice`);
    expectValid(
      tensor.datatype === served.datatype,
      () => `the input "${served.name}" is ${served.datatype}; it was given as ${tensor.datatype}`,
    );
    expectValid(
      isFit(tensor.shape, served),
      () => `the input "${served.name}" has the shape [${served.shape}]; it was given as [${tensor.shape}]`,
    );
    placed[place] = { ...tensor, name: served.name };
  }
  return placed.map((tensor, place) => {
    expectValid(tensor !== undefined, () => `the input "${wanted[place]?.name}" is missing`);
    return tensor;
  });
}

function isFit(shape: readonly number[], { shape: wanted, info }: ServedTensor): boolean {
  // A shape without extents is one that each run determines.
  if (info.shape.length === 0) return true;
  return (
    shape.length === wanted.length && shape.every((extent, axis) => wanted[axis] === -1 || extent === wanted[axis])
  );
}

/** Checks that the outputs that a request asks for exist. Throws a RequestError. */
export function checkOutputs({ outputs }: ModelDescription, { outputs: requested }: InferRequest): void {
  const names = new Set<string>();
  for (const { name, classification } of requested ?? []) {
    const output = outputs[findTensor(outputs, name)];
    expectValid(output !== undefined, () => `the model has no output "${name}"; it has ${listOf(outputs)}`);
    expectValid(!names.has(name), () => `the output "${name}" is requested twice`);
    expectValid(
      classification === 0 || output.datatype !== "BYTES",
      () => `the output "${name}" has strings, which have no best classes`,
    );
    names.add(name);
  }
}

/** Returns the outputs that a request asks for, under the names that it uses. */
export function outputsFor(
  { outputs: served }: ModelDescription,
  { outputs: requested }: InferRequest,
  outputs: readonly Tensor[],
): readonly Tensor[] {
  if (requested === undefined || requested.length === 0) return outputs;
  return requested.map((output) => {
    const place = findTensor(served, output.name);
    const tensor = outputs[place];
    if (tensor === undefined) throw new RequestError("failed", `the model did not return the output "${output.name}"`);
    return { ...classify(tensor, output, served[place]?.info.labels), name: output.name };
  });
}

function classify(tensor: Tensor, { classification }: RequestedOutput, labels: readonly string[] = []): Tensor {
  const { content, shape, datatype } = tensor;
  if (classification === 0 || isByteList(content)) return tensor;
  // The first axis is the batch, if there are others.
  const batch = shape.length > 1 ? (shape[0] ?? 1) : 1;
  const classes = batch === 0 ? 0 : countOf(shape) / batch;
  const count = Math.min(classification, classes);
  const encoder = new TextEncoder();
  const best = Array.from({ length: batch }, (_, row) => {
    const scores = numbersOf(datatype, content.subarray(row * classes, (row + 1) * classes));
    const order = scores.map((_, index) => index).sort((left, right) => compare(scores[right], scores[left]));
    return order.slice(0, count).map((index) => {
      const label = labels[index];
      return encoder.encode(`${scores[index]}:${index}${label === undefined ? "" : `:${label}`}`);
    });
  });
  return { ...tensor, datatype: "BYTES", shape: shape.length > 1 ? [batch, count] : [count], content: best.flat() };
}

function compare(left: number | bigint = 0, right: number | bigint = 0): number {
  return left > right ? 1 : left < right ? -1 : 0;
}

/** Returns the index of a tensor by its name, or by another name that only it has; -1 if there is none. */
function findTensor(tensors: readonly ServedTensor[], name: string): number {
  const own = tensors.findIndex((tensor) => tensor.name === name);
  if (own >= 0) return own;
  const others = tensors.filter(({ info }) => info.otherNames.includes(name));
  const [only] = others;
  return others.length === 1 && only !== undefined ? tensors.indexOf(only) : -1;
}

function listOf(tensors: readonly ServedTensor[]): string {
  return tensors.map(({ name, datatype, shape }) => `"${name}" (${datatype} [${shape}])`).join(", ");
}
