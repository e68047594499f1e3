/**
 * Joins models that refer to one another into one HAL model: values and pools are appended, subgraph indexes moved.
 */
import { type Memory, type Model, type Operand, OperandLifeTime, type Subgraph } from "@nnhal/types";

/** The model with others as its referenced subgraphs 0, 1, …; what those refer to follows behind them. */
export function withReferenced(model: Model, others: readonly Model[]): Model {
  const pools: Memory[] = [...model.pools];
  const values: Uint8Array[] = [model.operandValues];
  let valuesLength = model.operandValues.length;
  let nested = others.length;
  const direct: Subgraph[] = [];
  const behind: Subgraph[] = [];
  for (const other of others) {
    const move = mover(valuesLength, pools.length, nested);
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
  return { ...model, referenced: [...direct, ...behind], operandValues, pools };
}

/** Moves the locations of a subgraph's operands by the places where its values, pools and subgraphs now begin. */
function mover(values: number, pools: number, subgraphs: number): (subgraph: Subgraph) => Subgraph {
  const moved = (operand: Operand): Operand => {
    const { poolIndex, offset, length } = operand.location;
    switch (operand.lifetime) {
      case OperandLifeTime.CONSTANT_COPY:
        return { ...operand, location: { poolIndex, offset: offset + values, length } };
      case OperandLifeTime.CONSTANT_REFERENCE:
        return { ...operand, location: { poolIndex: poolIndex + pools, offset, length } };
      case OperandLifeTime.SUBGRAPH:
        return { ...operand, location: { poolIndex, offset: offset + subgraphs, length } };
      default:
        return operand;
    }
  };
  return (subgraph) => ({ ...subgraph, operands: subgraph.operands.map(moved) });
}
