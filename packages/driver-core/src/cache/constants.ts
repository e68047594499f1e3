/** Gathers the constants of a model into one memory: the parts of its pools that operands refer to, each once. */
import type { GraphSource } from "@nnhal/backend";
import { elementAt } from "@nnhal/operations";
import { type Operand, OperandLifeTime, type Subgraph } from "@nnhal/types";
import type { ModelStructure } from "@nnhal/utils/codec";

/** Alignment of values in bytes: every element type and vector instruction can read them in place. */
export const alignment = 64;

/** The next multiple of `alignment`. */
export function alignLength(length: number): number {
  return Math.ceil(length / alignment) * alignment;
}

/** A model whose CONSTANT_REFERENCE operands all lie in pool 0, and the pieces of that pool. */
export interface Gathered {
  readonly structure: ModelStructure;
  /** In order; each begins at the next multiple of `alignment`. Views, not copies. */
  readonly pieces: readonly Uint8Array[];
}

/** Gathers a model's constants. */
export function gatherConstants({ model, pools }: GraphSource): Gathered {
  const { main, referenced, relaxComputationFloat32toFloat16, extensionNameToPrefix } = model;
  const offsets = new Map<string, number>();
  const pieces: Uint8Array[] = [];
  let size = 0;
  const move = (operand: Operand): Operand => {
    if (operand.lifetime !== OperandLifeTime.CONSTANT_REFERENCE) return operand;
    const { poolIndex, offset: from, length } = operand.location;
    const key = `${poolIndex} ${from} ${length}`;
    let offset = offsets.get(key);
    if (offset === undefined) {
      offset = size;
      offsets.set(key, offset);
      pieces.push(elementAt(pools, poolIndex).subarray(from, from + length));
      size += alignLength(length);
    }
    return { ...operand, location: { poolIndex: 0, offset, length } };
  };
  const moveAll = (subgraph: Subgraph): Subgraph => ({ ...subgraph, operands: subgraph.operands.map(move) });
  const structure = {
    main: moveAll(main),
    referenced: referenced.map(moveAll),
    relaxComputationFloat32toFloat16,
    extensionNameToPrefix,
  };
  return { structure, pieces };
}
