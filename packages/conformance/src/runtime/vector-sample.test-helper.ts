/**
 * The public vectors for this folder's tests: with `NNHAL_VECTOR_WAYS=all` every one, otherwise a sample. Dividing a model depends on
 * its structure, so the sample has each structure of several operations or with control flow once, one in so many of the vectors of one
 * operation, and all that have to fail. The vectors are not part of this repository: NNHAL_VECTORS names their folder.
 */
import { elementAt } from "@nnhal/operations";
import { everyWay } from "@nnhal/test-kit/samples";
import { allVectors } from "../vectors/all.test-helper.ts";
import type { Example, ExampleSubgraph } from "../vectors/example.ts";

/** Of the vectors of one operation, one in so many. */
const sampledSingle = 61;

/** The vectors that run. */
export async function sampleOfVectors(): Promise<Example[]> {
  let count = 0;
  const seen = new Set<string>();
  return (await allVectors()).filter((example) => {
    const { main, referenced, expectFailure } = example;
    const isSingle = main.operations.length === 1 && referenced.length === 0;
    if (everyWay || expectFailure) return true;
    if (isSingle) return count++ % sampledSingle === 0;
    // Control flow is interpreted here, where a device does it in other tests: it runs in each type.
    const structure = structureOf(example, referenced.length > 0);
    const isNew = !seen.has(structure);
    seen.add(structure);
    return isNew;
  });
}

/** A smaller sample: for tests that depend neither on a model's results nor on its division. */
export function oneInThree(sample: readonly Example[]): Example[] {
  return sample.filter(({ expectFailure }, index) => everyWay || expectFailure || index % 3 === 0);
}

/** One of two halves: for several tests that together need each once. */
export function half(sample: readonly Example[], which: 0 | 1): Example[] {
  return sample.filter((_, index) => everyWay || index % 2 === which);
}

/** Fewer of the vectors with control flow: for tests in which it is not interpreted. */
export function withFewLoops(sample: readonly Example[]): Example[] {
  const seen = new Set<string>();
  return sample.filter((example) => {
    if (everyWay || example.referenced.length === 0) return true;
    const structure = structureOf(example, false);
    const isNew = !seen.has(structure);
    seen.add(structure);
    return isNew;
  });
}

/** The same for examples that differ only in extents, values and, unless they count, types. */
function structureOf({ main, referenced, expectFailure }: Example, withTypes: boolean): string {
  return JSON.stringify([expectFailure, ...[main, ...referenced].map((subgraph) => shapeOf(subgraph, withTypes))]);
}

function shapeOf({ inputIndexes, outputIndexes, operations, operands }: ExampleSubgraph, withTypes: boolean) {
  const used = new Set([...inputIndexes, ...outputIndexes, ...operations.flatMap(({ inputs }) => inputs)]);
  return [
    inputIndexes,
    outputIndexes,
    operations.map(({ type, inputs, outputs }) => [type, inputs, outputs]),
    [...used].map((index) => {
      const { lifetime, dimensions, type } = elementAt(operands, index);
      return [lifetime, dimensions.length === 0, dimensions.includes(0), withTypes ? type : ""];
    }),
  ];
}
