/**
 * Pseudo-random denials of operations (`debug.nn.sample.supported`): partitioners are tested with devices that take an arbitrary but
 * constant part of a model.
 */
import type { OperandView, OperationView } from "@nnhal/backend";

/**
 * Returns true if a device denies an operation: a hash of its name, the operation and the types, ranks and extents of the
 * operands is odd.
 */
export function denies(name: string, { definition, inputs, outputs }: OperationView): boolean {
  let hash = definition.code;
  hash = mixText(hash, name);
  for (const { type, dimensions } of [...inputs, ...outputs]) {
    hash = mix(mixText(hash, nameOf(type)), dimensions.length);
    for (const extent of dimensions) hash = mix(hash, extent);
  }
  return (hash & 1) === 1;
}

function nameOf(type: OperandView["type"]): string {
  return typeof type === "string" ? type : type.name;
}

function mixText(hash: number, text: string): number {
  let mixed = hash;
  for (const letter of text) mixed = mix(mixed, letter.codePointAt(0) ?? 0);
  return mixed;
}

/** One step of FNV-1a, on 32 bits. Its upper half is folded down, so that every bit of a value reaches the lowest bit. */
function mix(hash: number, value: number): number {
  const product = Math.imul(hash ^ value, 0x0100_0193);
  return product ^ (product >>> 15);
}
