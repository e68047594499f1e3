/**
 * Which operators of two forms of one network stand for each other.
 */
import type { ImportedModel } from "@nnhal/tflite";

/** An operator of the open file beside that of the other file, by their places; one that stands alone has undefined beside it. */
export type OperatorPair = readonly [one: number | undefined, other: number | undefined];

/** The parts of an import that say what became of operators. */
type Imported = Pick<ImportedModel, "model" | "operandNames" | "operators">;

/** Pairs of operators as `nnhal diff --against` finds them. Rejects with a RangeError if the inputs of the two are not alike. */
export async function pairOperators(one: Imported, other: Imported): Promise<OperatorPair[]> {
  const { matchNetworks } = await import("@nnhal/diff");
  const [writers, others] = [writersOf(one), writersOf(other)];
  const pairs: OperatorPair[] = [];
  for (const [operand, counterpart] of matchNetworks(one, other)) {
    const [operator, stands] = [writers.get(operand), others.get(counterpart)];
    if (operator !== undefined && stands !== undefined) pairs.push([operator, stands]);
  }
  return pairs;
}

/** The place in the file of the operator that writes each operand. */
function writersOf({ model, operators }: Imported): ReadonlyMap<number, number> {
  const writers = new Map<number, number>();
  for (const [operation, { outputs }] of model.main.operations.entries()) {
    const operator = operators[operation]?.index ?? -1;
    if (operator >= 0) for (const operand of outputs) writers.set(operand, operator);
  }
  return writers;
}

/** All operators of both files in their orders, those of a pair beside each other. A pair that goes against the order is left out. */
export function mergePairs(pairs: readonly OperatorPair[], count: number, otherCount: number): OperatorPair[] {
  const partners = new Map(pairs);
  const merged: OperatorPair[] = [];
  let next = 0;
  for (let one = 0; one < count; one++) {
    const other = partners.get(one);
    if (other === undefined || other < next) {
      merged.push([one, undefined]);
      continue;
    }
    while (next < other) merged.push([undefined, next++]);
    merged.push([one, next++]);
  }
  while (next < otherCount) merged.push([undefined, next++]);
  return merged;
}
