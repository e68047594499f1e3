/**
 * Inputs without elements: the HAL has no requests with such values, so they are constants of a model that is imported for them.
 */
import { describeValue, ensure, fail, listText } from "../error.ts";
import type { TfliteModel, TfliteSubgraph } from "../model.ts";
import { isUnranked, openShape } from "./shapes.ts";

/** Shapes of inputs without elements, by place. */
export type EmptyInputs = ReadonlyMap<number, readonly number[]>;

const noElements = new Uint8Array(0);

/** A subgraph whose inputs of these places are constants without elements. Throws a TfliteError for a place or shape that does not fit. */
function withEmptyInputs(subgraph: TfliteSubgraph, given: EmptyInputs): TfliteSubgraph {
  ensure(given instanceof Map, "options.emptyInputs", () => `expected a Map, got ${describeValue(given)}`);
  const tensors = [...subgraph.tensors];
  for (const [place, shape] of given) {
    const path = `options.emptyInputs[${place}]`;
    const index = subgraph.inputs[place] ?? -1;
    const tensor = tensors[index];
    if (tensor === undefined) fail(path, `there is no such input; the model has ${subgraph.inputs.length}`);
    const open = openShape(tensor);
    const isFit = (extent: number, axis: number) =>
      Number.isInteger(extent) && extent >= 0 && (isUnranked(tensor) || [-1, 0, extent].includes(open[axis] ?? NaN));
    ensure(
      Array.isArray(shape) &&
        shape.includes(0) &&
        (isUnranked(tensor) || shape.length === open.length) &&
        shape.every(isFit),
      path,
      () =>
        `expected a shape without elements that refines ${listText(open)}, got ${Array.isArray(shape) ? listText(shape) : describeValue(shape)}`,
    );
    const { shapeSignature: _open, ...facts } = tensor;
    tensors[index] = { ...facts, shape, data: noElements };
  }
  // Shapes that the file stores for results are those of values with elements.
  for (const index of subgraph.operators.flatMap(({ outputs }) => outputs)) {
    const tensor = tensors[index];
    if (tensor === undefined || tensor.data !== undefined) continue;
    const { shape } = tensor;
    tensors[index] = { ...tensor, shape: shape.map(() => 0), shapeSignature: shape.map(() => -1) };
  }
  return { ...subgraph, tensors, inputs: subgraph.inputs.filter((_, place) => !given.has(place)) };
}

/** The part of a model that is imported. */
interface Entry {
  readonly index: number;
  readonly subgraph: TfliteSubgraph;
  readonly inputNames: readonly (string | undefined)[];
}

/** A model and its entry with inputs without elements. Throws as `withEmptyInputs` does. */
export function emptyEntry<Given extends Entry>(
  model: TfliteModel,
  entry: Given,
  empty: EmptyInputs,
): { readonly model: TfliteModel; readonly entry: Given } {
  const subgraph = withEmptyInputs(entry.subgraph, empty);
  const { tensors } = subgraph;
  const names = entry.subgraph.inputs.map((_, place) => entry.inputNames[place]);
  return {
    model: {
      ...model,
      subgraphs: model.subgraphs.map((each, at) => (at === entry.index ? { ...each, tensors } : each)),
    },
    entry: { ...entry, subgraph, inputNames: names.filter((_, place) => !empty.has(place)) },
  };
}
