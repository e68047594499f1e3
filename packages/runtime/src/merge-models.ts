/**
 * Joins models that refer to one another into one HAL model: values and pools are appended, subgraph indexes moved, and the
 * prefixes of extensions become those of the first.
 */

import { extensionCode, splitExtensionCode } from "@nnhal/operations";
import { type Memory, type Model, type Operand, OperandLifeTime, type Operation, type Subgraph } from "@nnhal/types";
import { isExtensionOperandType } from "@nnhal/utils";

/** The first model's prefix of an extension. */
export type PrefixOf = (name: string) => number;

/** The model with others as its referenced subgraphs 0, 1, …; the subgraphs of those follow after them. */
export function withReferenced(model: Model, others: readonly Model[], prefixOf: PrefixOf): Model {
  const pools: Memory[] = [...model.pools];
  const values: Uint8Array[] = [model.operandValues];
  const prefixes = new Map(model.extensionNameToPrefix.map(({ name, prefix }) => [name, prefix]));
  let valuesLength = model.operandValues.length;
  let nested = others.length;
  const direct: Subgraph[] = [];
  const behind: Subgraph[] = [];
  for (const other of others) {
    for (const { name } of other.extensionNameToPrefix) prefixes.set(name, prefixOf(name));
    const move = mover(valuesLength, pools.length, nested, codeMover(other, prefixOf));
    direct.push(move(other.main));
    behind.push(...other.referenced.map(move));
    pools.push(...other.pools);
    values.push(other.operandValues);
    valuesLength += other.operandValues.length;
    nested += other.referenced.length;
  }
  const operandValues = new Uint8Array(valuesLength);
  let offset = 0;
  for (const bytes of values) {
    operandValues.set(bytes, offset);
    offset += bytes.length;
  }
  const extensionNameToPrefix = [...prefixes].map(([name, prefix]) => ({ name, prefix }));
  return { ...model, referenced: [...direct, ...behind], operandValues, pools, extensionNameToPrefix };
}

/** Changes codes from one model's prefixes to those of another. */
function codeMover({ extensionNameToPrefix }: Model, prefixOf: PrefixOf): (code: number) => number {
  const moved = new Map(extensionNameToPrefix.map(({ name, prefix }) => [prefix, prefixOf(name)]));
  return (code) => {
    if (!isExtensionOperandType(code)) return code;
    const { prefix, code: type } = splitExtensionCode(code);
    return extensionCode(moved.get(prefix) ?? prefix, type);
  };
}

/** Moves the locations of a subgraph's operands by the offsets of its values, pools and subgraphs. */
function mover(
  values: number,
  pools: number,
  subgraphs: number,
  codeOf: (code: number) => number,
): (subgraph: Subgraph) => Subgraph {
  const moved = (operand: Operand): Operand => {
    const type = codeOf(operand.type);
    const { poolIndex, offset, length } = operand.location;
    switch (operand.lifetime) {
      case OperandLifeTime.CONSTANT_COPY:
        return { ...operand, type, location: { poolIndex, offset: offset + values, length } };
      case OperandLifeTime.CONSTANT_REFERENCE:
        return { ...operand, type, location: { poolIndex: poolIndex + pools, offset, length } };
      case OperandLifeTime.SUBGRAPH:
        return { ...operand, location: { poolIndex, offset: offset + subgraphs, length } };
      default:
        return type === operand.type ? operand : { ...operand, type };
    }
  };
  const movedOperation = (operation: Operation): Operation => {
    const type = codeOf(operation.type);
    return type === operation.type ? operation : { ...operation, type };
  };
  return (subgraph) => ({
    ...subgraph,
    operands: subgraph.operands.map(moved),
    operations: subgraph.operations.map(movedOperation),
  });
}
