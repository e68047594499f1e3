/**
 * Rules on the source of an operand's value: its lifetime and location (19 – 26, 60).
 */
import { type NamedFacts, operandTypeText } from "@nnhal/operations";
import { type Operand, operandLifeTimeNames, operandLifeTimes } from "@nnhal/types";
import { addIssue, type OperandPlace, operandPath, requireVersion } from "./context.ts";
import { showDimensions } from "./issues.ts";
import { sizeOfMemory } from "./pool.ts";
import { isObject } from "./structure.ts";
import { isOem, sizeOf } from "./type-ranges.ts";

/** Checks an operand's lifetime and location; `type` is undefined for a type of an unknown extension. */
export function checkLocation(place: OperandPlace, operand: Operand, type: NamedFacts | undefined): void {
  const { context } = place;
  const name = operandLifeTimeNames.get(operand.lifetime);
  if (name === undefined) {
    addIssue(place, "operand-lifetime", ".lifetime", `${operand.lifetime} is not a lifetime`);
    return;
  }
  const { since } = operandLifeTimes[name];
  if (since > context.version) {
    requireVersion(context, since, "operand-lifetime", operandPath(place, ".lifetime"), `lifetime ${name}`);
  }
  switch (name) {
    case "CONSTANT_COPY":
      checkConstantCopy(place, operand);
      break;
    case "CONSTANT_REFERENCE":
      checkConstantReference(place, operand);
      break;
    case "SUBGRAPH":
      checkSubgraphLocation(place, operand);
      break;
    default:
      checkNoLocation(place, operand, name);
  }
  if ((type?.kind === "subgraph") !== (name === "SUBGRAPH")) {
    const typeName = type?.name ?? operandTypeText(operand.type, context.prefixes);
    addIssue(place, "subgraph-lifetime", ".lifetime", `an operand of type ${typeName} has lifetime ${name}`);
  } else if (type !== undefined && (name === "CONSTANT_COPY" || name === "CONSTANT_REFERENCE")) {
    checkConstantLength(place, operand, type);
  }
}

function checkConstantCopy(place: OperandPlace, { location }: Operand): void {
  const { operandValues } = place.context;
  const { poolIndex, offset, length } = location;
  if (poolIndex !== 0) {
    addIssue(
      place,
      "constant-copy-pool",
      ".location.poolIndex",
      `the poolIndex of a CONSTANT_COPY: expected 0, got ${poolIndex}`,
    );
  }
  if (offset + length <= operandValues.length) return;
  const problem = `${length} bytes at ${offset} reach beyond the ${operandValues.length} bytes of operandValues`;
  addIssue(place, "constant-copy-range", ".location", problem);
}

function checkConstantReference(place: OperandPlace, { location }: Operand): void {
  const { pools } = place.context;
  const { poolIndex, offset, length } = location;
  if (poolIndex >= pools.length) {
    const problem = `the poolIndex is ${poolIndex} where the model has ${pools.length} pools`;
    addIssue(place, "constant-reference-range", ".location.poolIndex", problem);
    return;
  }
  const pool = pools[poolIndex];
  const size = sizeOfMemory(pool);
  // A pool without a size is reported separately.
  if (size !== undefined && offset + length > size) {
    const problem = `${length} bytes at ${offset} reach beyond the ${size} bytes of pool ${poolIndex}`;
    addIssue(place, "constant-reference-range", ".location", problem);
  }
  if (isObject(pool) && pool.name === "hardware_buffer") {
    addIssue(
      place,
      "opaque-pool",
      ".location.poolIndex",
      `pool ${poolIndex} is a hardware_buffer, which cannot hold constants`,
    );
  }
}

function checkSubgraphLocation(place: OperandPlace, { location }: Operand): void {
  const { referenced } = place.context;
  const { poolIndex, offset, length } = location;
  if (poolIndex === 0 && length === 0 && offset < referenced.length) return;
  const problem =
    offset < referenced.length
      ? `poolIndex ${poolIndex} and length ${length}, expected 0 and 0`
      : `subgraph ${offset} where the model has ${referenced.length} referenced subgraphs`;
  addIssue(place, "subgraph-location", ".location", `a SUBGRAPH refers to ${problem}`);
}

function checkNoLocation(place: OperandPlace, { location }: Operand, name: string): void {
  const { poolIndex, offset, length } = location;
  if (poolIndex === 0 && offset === 0 && length === 0) return;
  const problem = `poolIndex ${poolIndex}, offset ${offset}, length ${length} where all must be 0`;
  addIssue(place, "location-unused", ".location", `a ${name} has ${problem}`);
}

function checkConstantLength(place: OperandPlace, { location, dimensions }: Operand, type: NamedFacts): void {
  if (isOem(type)) return;
  const size = sizeOf(type, dimensions);
  if (location.length === size) return;
  const shown = type.kind === "tensor" ? `${type.name} ${showDimensions(dimensions)}` : type.name;
  addIssue(
    place,
    "constant-length",
    ".location.length",
    `${location.length} bytes are given for a ${shown}, which takes ${size}`,
  );
}
