/**
 * Samples of large sets of test cases. By default a sample runs, the same in each run. CONTRIBUTING.md names the
 * variables.
 */

/** True if every vector runs in every way, and every random example is drawn: `NNHAL_VECTOR_WAYS=all`. */
export const everyWay = process.env.NNHAL_VECTOR_WAYS === "all";

/** True if every broken file, mutant and planted fault is run: `NNHAL_FAULTS=all`. */
export const everyFault = process.env.NNHAL_FAULTS === "all";

/** A vector as far as its structure goes: an example of the conformance kit is one. */
interface Structured {
  readonly main: StructuredSubgraph;
  readonly referenced: readonly StructuredSubgraph[];
}

interface StructuredSubgraph {
  readonly operations: readonly {
    readonly type: string;
    readonly inputs: readonly number[];
    readonly outputs: readonly number[];
  }[];
  readonly operands: readonly {
    readonly type: string;
    readonly dimensions: readonly number[];
    readonly channelQuant: object | null;
  }[];
}

/**
 * A filter for `runVectors`: of each structure (operations with their numbers of operands; types, ranks, and whether each channel has a
 * scale) the first vector, and of the others one in `rest`. With `NNHAL_VECTOR_WAYS=all` every vector.
 */
export function eachStructure(rest: number): (vector: { readonly example: Structured }) => boolean {
  const seen = new Set<string>();
  let others = 0;
  return ({ example: { main, referenced } }) => {
    if (everyWay) return true;
    const structure = JSON.stringify([main, ...referenced].map(structureOf));
    if (seen.has(structure)) return others++ % rest === 0;
    seen.add(structure);
    return true;
  };
}

function structureOf({ operations, operands }: StructuredSubgraph) {
  return [
    operations.map(({ type, inputs, outputs }) => [type, inputs.length, outputs.length]),
    operands.map(({ type, dimensions, channelQuant }) => [type, dimensions.length, channelQuant !== null]),
  ];
}
