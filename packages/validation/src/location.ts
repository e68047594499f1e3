/**
 * Rules on where an operand's value comes from: its lifetime and location (19 – 26, 60).
 */
import { type Operand, operandLifeTimeNames, operandLifeTimes } from "@nnhal/types";
import { type AddOperandIssue, type ModelContext, requireVersion } from "./context.ts";
import { showDimensions } from "./issues.ts";
import { sizeOfMemory } from "./pool.ts";
import { isObject } from "./structure.ts";
import { isOem, type KnownOperandType, sizeOf } from "./type-ranges.ts";

/** Checks lifetime and location of operand `index` of the subgraph at `at`; `type` is undefined for an extension's. */
export function checkLocation(
  context: ModelContext,
  operand: Operand,
  type: KnownOperandType | undefined,
  at: string,
  index: number,
  add: AddOperandIssue,
): void {
  const name = operandLifeTimeNames.get(operand.lifetime);
  if (name === undefined) {
    add("operand-lifetime", ".lifetime", `${operand.lifetime} is no lifetime`);
    return;
  }
  const { since } = operandLifeTimes[name];
  if (since > context.version) {
    requireVersion(context, since, "operand-lifetime", `${at}.operands[${index}].lifetime`, `lifetime ${name}`);
  }
  switch (name) {
    case "CONSTANT_COPY":
      checkConstantCopy(context, operand, add);
      break;
    case "CONSTANT_REFERENCE":
      checkConstantReference(context, operand, add);
      break;
    case "SUBGRAPH":
      checkSubgraphLocation(context, operand, add);
      break;
    default:
      checkNoLocation(operand, name, add);
  }
  if ((type?.kind === "subgraph") !== (name === "SUBGRAPH")) {
    const typeName = type?.name ?? `extension type ${operand.type}`;
    add("subgraph-lifetime", ".lifetime", `an operand of type ${typeName} has lifetime ${name}`);
  } else if (type !== undefined && (name === "CONSTANT_COPY" || name === "CONSTANT_REFERENCE")) {
    checkConstantLength(operand, type, add);
  }
}

function checkConstantCopy({ operandValues }: ModelContext, { location }: Operand, add: AddOperandIssue): void {
  const { poolIndex, offset, length } = location;
  if (poolIndex !== 0) {
    add(
      "constant-copy-pool",
      ".location.poolIndex",
      `the poolIndex of a CONSTANT_COPY is ${poolIndex} where 0 is needed`,
    );
  }
  if (offset + length <= operandValues.length) return;
  const problem = `${length} bytes at ${offset} reach beyond the ${operandValues.length} bytes of operandValues`;
  add("constant-copy-range", ".location", problem);
}

function checkConstantReference({ pools }: ModelContext, { location }: Operand, add: AddOperandIssue): void {
  const { poolIndex, offset, length } = location;
  if (poolIndex >= pools.length) {
    const problem = `the poolIndex is ${poolIndex} where the model has ${pools.length} pools`;
    add("constant-reference-range", ".location.poolIndex", problem);
    return;
  }
  const pool = pools[poolIndex];
  const size = sizeOfMemory(pool);
  // A pool without a size is an issue of its own.
  if (size !== undefined && offset + length > size) {
    const problem = `${length} bytes at ${offset} reach beyond the ${size} bytes of pool ${poolIndex}`;
    add("constant-reference-range", ".location", problem);
  }
  if (isObject(pool) && pool.name === "hardware_buffer") {
    add("opaque-pool", ".location.poolIndex", `pool ${poolIndex} is a hardware_buffer, which cannot hold constants`);
  }
}

function checkSubgraphLocation({ referenced }: ModelContext, { location }: Operand, add: AddOperandIssue): void {
  const { poolIndex, offset, length } = location;
  if (poolIndex === 0 && length === 0 && offset < referenced.length) return;
  const problem =
    offset < referenced.length
      ? `poolIndex ${poolIndex} and length ${length} where 0 and 0 are needed`
      : `subgraph ${offset} where the model has ${referenced.length} referenced subgraphs`;
  add("subgraph-location", ".location", `a SUBGRAPH refers to ${problem}`);
}

function checkNoLocation({ location }: Operand, name: string, add: AddOperandIssue): void {
  const { poolIndex, offset, length } = location;
  if (poolIndex === 0 && offset === 0 && length === 0) return;
  const problem = `poolIndex ${poolIndex}, offset ${offset}, length ${length} where all must be 0`;
  add("location-unused", ".location", `a ${name} has ${problem}`);
}

function checkConstantLength({ location, dimensions }: Operand, type: KnownOperandType, add: AddOperandIssue): void {
  if (isOem(type)) return;
  const size = sizeOf(type, dimensions);
  if (location.length === size) return;
  const shown = type.kind === "tensor" ? `${type.name} ${showDimensions(dimensions)}` : type.name;
  add("constant-length", ".location.length", `${location.length} bytes are given for a ${shown}, which takes ${size}`);
}
