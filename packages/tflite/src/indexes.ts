/**
 * Indexes of a model that are out of range.
 */
import { fail } from "./error.ts";
import type { TfliteModel } from "./model.ts";

/** A defect of a model, and its place. */
export interface TfliteIssue {
  /** The place in the model, such as `subgraphs[0].operators[3] (ABS).inputs[1]`. */
  readonly path: string;
  /** The rule in words, with the actual value. */
  readonly message: string;
}

/** The place of an operator in messages about a file. */
export function operatorPlace(subgraphPath: string, index: number, name: string): string {
  return `${subgraphPath}.operators[${index}] (${name})`;
}

/** The message for an index into a list of `count`. */
export function noSuch(what: string, index: number, owner: string, count: number): string {
  return `there is no ${what} ${index}; the ${owner} has ${count}`;
}

function* tensorIndexes(list: readonly number[], count: number, least: number, path: string): Generator<TfliteIssue> {
  for (const [i, index] of list.entries()) {
    if (Number.isInteger(index) && index >= least && index < count) continue;
    yield { path: `${path}[${i}]`, message: noSuch("tensor", index, "subgraph", count) };
  }
}

/** Every index of a model that is out of range. */
export function* indexProblems({ subgraphs, signatures }: TfliteModel): Generator<TfliteIssue> {
  for (const [g, { tensors, operators, inputs, outputs }] of subgraphs.entries()) {
    const path = `subgraphs[${g}]`;
    for (const [i, operator] of operators.entries()) {
      const place = operatorPlace(path, i, operator.name);
      yield* tensorIndexes(operator.inputs, tensors.length, -1, `${place}.inputs`);
      yield* tensorIndexes(operator.outputs, tensors.length, 0, `${place}.outputs`);
      yield* tensorIndexes(operator.intermediates ?? [], tensors.length, 0, `${place}.intermediates`);
    }
    for (const [i, { blocks }] of tensors.entries()) {
      if (blocks === undefined) continue;
      yield* tensorIndexes([blocks.scales], tensors.length, 0, `${path}.tensors[${i}].blocks.scales`);
    }
    yield* tensorIndexes(inputs, tensors.length, 0, `${path}.inputs`);
    yield* tensorIndexes(outputs, tensors.length, 0, `${path}.outputs`);
  }
  for (const [i, { subgraph, ...sides }] of signatures.entries()) {
    const path = `signatureDefs[${i}]`;
    const target = subgraphs[subgraph];
    if (target === undefined) {
      yield { path: `${path}.subgraphIndex`, message: noSuch("subgraph", subgraph, "file", subgraphs.length) };
      continue;
    }
    for (const side of ["inputs", "outputs"] as const) {
      const indexes = sides[side].map(({ tensor }) => tensor);
      yield* tensorIndexes(indexes, target.tensors.length, 0, `${path}.${side}`);
    }
  }
}

/** Refuses a model with an index that is out of range. */
export function ensureIndexes(model: TfliteModel): void {
  for (const { path, message } of indexProblems(model)) fail(path, message);
}
