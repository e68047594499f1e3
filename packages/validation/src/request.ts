/**
 * Validation of requests against the model they are for: rules 42 – 50 and 66. The model is assumed to be valid; if it
 * cannot be read, that is an issue too.
 */
import type { FactsByCode } from "@nnhal/operations";
import {
  type HalVersion,
  isAidl,
  type Model,
  newestHalVersion,
  type Operand,
  type Request,
  type RequestArgument,
} from "@nnhal/types";
import { checkRequestOfAidl } from "./aidl.ts";
import { collectIssues, type Issue, type IssueList, show, showDimensions } from "./issues.ts";
import { greatestSize, isReadable } from "./operand.ts";
import { checkRequestPool, sizeOfMemory } from "./pool.ts";
import { isList, isObject, isUint32, isUint32List, readUntrusted } from "./structure.ts";
import { knownOperandType, sizeOf } from "./type-ranges.ts";

/** Options of validating a request. */
export interface RequestValidationOptions {
  /** The HAL version whose rules apply. Default: the newest, with arguments that are longer than their values, which AIDL does not have. */
  readonly version?: HalVersion;
  /**
   * True if the execution can determine the shapes of outputs; a fenced one cannot. Default: true; false below HAL 1.2.
   */
  readonly allowUnspecifiedOutput?: boolean;
  /** Most issues to look for. Default 32. */
  readonly limit?: number;
  /** True if the model has been validated and cannot have changed, so that it is not checked again. Default: false. */
  readonly isModelSound?: boolean;
  /** Facts of the types of extensions in the model. Default: only the dimensions of operands of such types are checked. */
  readonly factsOf?: FactsByCode;
}

/** The rules that a request breaks; none for a valid request. Never throws, whatever the fields hold. */
export function requestIssues(request: Request, model: Model, options: RequestValidationOptions = {}): Issue[] {
  return collectIssues("request", options.limit, (issues) => {
    checkRequest(request, model, options, issues);
    const { version, factsOf = knownOperandType } = options;
    if (version !== undefined && isAidl(version) && issues.items.length === 0)
      checkRequestOfAidl(request, model, factsOf, issues);
  });
}

/** The same by the rules of devices, who take what any version has. */
export function deviceRequestIssues(
  request: Request,
  model: Model,
  options: Omit<RequestValidationOptions, "version"> = {},
): Issue[] {
  return collectIssues("request", options.limit, (issues) => checkRequest(request, model, options, issues));
}

/** Returns whether a request is valid for a model. */
export function validateRequest(request: Request, model: Model, options: RequestValidationOptions = {}): boolean {
  return requestIssues(request, model, { ...options, limit: 1 }).length === 0;
}

/** One list of arguments and the rules for it. */
interface Side {
  readonly name: "inputs" | "outputs";
  /** True if dimensions may stay unknown. */
  readonly unknownAllowed: boolean;
  readonly isModelSound: boolean;
  readonly request: Request;
  readonly issues: IssueList;
  /** The facts of a type; undefined for one of an extension that is not known. */
  readonly factsOf: FactsByCode;
}

const requestLists = ["inputs", "outputs", "pools"] as const;

function checkRequest(
  request: Request,
  model: Model,
  {
    version = newestHalVersion,
    allowUnspecifiedOutput = true,
    isModelSound = false,
    factsOf = knownOperandType,
  }: RequestValidationOptions,
  issues: IssueList,
): void {
  if (!isObject(request)) {
    issues.add("structure", "request", `the request is ${show(request)}`);
    return;
  }
  for (const list of requestLists) {
    if (isList(request[list])) continue;
    issues.add("structure", list, `${list}: expected an array, got ${show(request[list])}`);
    return;
  }
  const main = isObject(model) && isObject(model.main) ? model.main : undefined;
  if (main === undefined || !(isList(main.operands) && isList(main.inputIndexes) && isList(main.outputIndexes))) {
    issues.add("structure", "model", "the model has no readable main subgraph");
    return;
  }
  const { operands, inputIndexes, outputIndexes } = main;
  const unknownAllowed = allowUnspecifiedOutput && version >= "1.2";
  const common = { isModelSound, request, issues, factsOf };
  checkArguments({ name: "inputs", unknownAllowed: false, ...common }, operands, inputIndexes);
  checkArguments({ name: "outputs", unknownAllowed, ...common }, operands, outputIndexes);
  for (let index = 0; index < request.pools.length && !issues.isFull(); index++) {
    checkRequestPool(issues, request.pools[index], version, index);
  }
}

/** The path of an argument: made only for an issue. */
function pathOf({ name }: Side, position: number): string {
  return `${name}[${position}]`;
}

function checkArguments(side: Side, operands: readonly Operand[], indexes: readonly number[]): void {
  const { name, request, issues } = side;
  const list = request[name];
  if (list.length !== indexes.length) {
    issues.add("argument-count", name, `the request has ${list.length} ${name} where the model has ${indexes.length}`);
    return;
  }
  for (let position = 0; position < list.length && !issues.isFull(); position++) {
    const operand = readUntrusted(operands, indexes[position]);
    if (operand !== undefined && (side.isModelSound || isReadable(operand)))
      checkArgument(side, list[position], operand, position);
    else issues.add("structure", pathOf(side, position), "the model's operand for the argument cannot be read");
  }
}

function checkArgument(side: Side, argument: RequestArgument | undefined, operand: Operand, position: number): void {
  const { issues } = side;
  if (!isReadableArgument(side, argument, position)) return;
  const { hasNoValue, location, dimensions } = argument;
  if (hasNoValue) {
    const { poolIndex, offset, length, padding = 0 } = location;
    if (poolIndex + offset + length + padding + dimensions.length === 0) return;
    const shown = `poolIndex ${poolIndex}, offset ${offset}, length ${length}, dimensions ${showDimensions(dimensions)}`;
    issues.add(
      "argument-no-value",
      pathOf(side, position),
      `an omitted argument has ${shown} where all must be 0 or empty`,
    );
    return;
  }
  const before = issues.items.length;
  checkLocation(side, location, position);
  if (dimensions.length === 0) checkModelDimensions(side, operand, position);
  else checkGivenDimensions(side, dimensions, operand, position);
  // The execution reports an output that is too short: OUTPUT_INSUFFICIENT_SIZE.
  const isSound = issues.items.length === before;
  if (isSound && side.name === "inputs") checkLength(side, argument, operand, position);
}

/** Rule 66. */
function checkLength(
  { request, issues, factsOf }: Side,
  { location: { poolIndex, length }, dimensions }: RequestArgument,
  operand: Operand,
  position: number,
): void {
  const type = factsOf(operand.type);
  const pool = request.pools[poolIndex];
  // An argument in a token's pool or a hardware buffer uses all of it; its length is 0.
  if (type === undefined || !isObject(pool) || pool.kind !== "memory") return;
  if (pool.memory?.name === "hardware_buffer") return;
  const known = dimensions.length > 0 ? dimensions : operand.dimensions;
  const size = sizeOf(type, known);
  if (length >= size) return;
  const problem = `the argument has ${length} bytes where a ${type.name} ${showDimensions(known)} takes ${size}`;
  issues.add("argument-length", `inputs[${position}].location.length`, problem);
}

function isReadableArgument(
  side: Side,
  argument: RequestArgument | undefined,
  position: number,
): argument is RequestArgument {
  const garbage = garbageOf(argument);
  if (garbage !== undefined) side.issues.add("structure", pathOf(side, position), garbage);
  return garbage === undefined;
}

function garbageOf(argument: RequestArgument | undefined): string | undefined {
  if (!isObject(argument)) return `the argument is ${show(argument)}`;
  const { hasNoValue, location, dimensions } = argument;
  if (typeof hasNoValue !== "boolean") return `hasNoValue: expected a boolean, got ${show(hasNoValue)}`;
  if (!isObject(location)) return `location: expected an object, got ${show(location)}`;
  for (const field of ["poolIndex", "offset", "length", "padding"] as const) {
    const value = location[field];
    const isAbsent = value === undefined && field === "padding";
    if (!isAbsent && !isUint32(value)) return `location.${field}: expected an integer, got ${show(value)}`;
  }
  return isUint32List(dimensions) ? undefined : `dimensions: expected an array of integers, got ${show(dimensions)}`;
}

/** Rules 44 and 60. */
function checkLocation(side: Side, location: RequestArgument["location"], position: number): void {
  const { request, issues } = side;
  const { poolIndex, offset, length, padding = 0 } = location;
  if (poolIndex >= request.pools.length) {
    const problem = `the poolIndex is ${poolIndex} where the request has ${request.pools.length} pools`;
    issues.add("argument-location", `${pathOf(side, position)}.location.poolIndex`, problem);
    return;
  }
  const pool = request.pools[poolIndex];
  // Defects of the pool itself are issues of their own.
  if (!isObject(pool)) return;
  const used = offset + length + padding;
  if (pool.kind === "token") {
    if (used === 0) return;
    const problem = `offset ${offset} and length ${length} on a token's pool, where both must be 0`;
    issues.add("argument-location", `${pathOf(side, position)}.location`, problem);
    return;
  }
  const size = sizeOfMemory(pool.memory);
  if (size === undefined) return;
  if (used > size) {
    const problem = `${used - offset} bytes at ${offset} reach beyond the ${size} bytes of pool ${poolIndex}`;
    issues.add("argument-location", `${pathOf(side, position)}.location`, problem);
  } else if (pool.memory.name === "hardware_buffer" && used > 0) {
    const problem = `offset ${offset} and length ${length} on a hardware_buffer, where both must be 0`;
    issues.add("opaque-pool", `${pathOf(side, position)}.location`, problem);
  }
}

/** Rules 45 and 49, for an argument without dimensions. */
function checkModelDimensions(side: Side, operand: Operand, position: number): void {
  const { name, unknownAllowed, issues, factsOf } = side;
  if (unknownAllowed) return;
  const { type, dimensions } = operand;
  // Of the type of an unknown extension it is not known whether it has dimensions at all.
  const unknownRank = dimensions.length === 0 && factsOf(type)?.kind === "tensor";
  if (!unknownRank && !dimensions.includes(0)) return;
  const code = name === "inputs" ? "argument-shape-unknown" : "output-shape-unknown";
  const problem = `neither the request nor the model, which has ${showDimensions(dimensions)}, specifies all dimensions`;
  issues.add(code, `${pathOf(side, position)}.dimensions`, problem);
}

/** Rules 46 – 49 and 59, for an argument with dimensions. */
function checkGivenDimensions(side: Side, dimensions: readonly number[], operand: Operand, position: number): void {
  const { name, unknownAllowed, issues, factsOf } = side;
  const known = operand.dimensions;
  // Made only for an issue.
  const field = () => `${pathOf(side, position)}.dimensions`;
  const type = factsOf(operand.type);
  if (type !== undefined && type.kind !== "tensor") {
    issues.add("argument-rank", field(), `a ${type.name} is given dimensions ${showDimensions(dimensions)}`);
    return;
  }
  if (known.length !== 0 && known.length !== dimensions.length) {
    const problem = `the dimensions are ${showDimensions(dimensions)} where the model has ${showDimensions(known)}`;
    issues.add("argument-rank", field(), problem);
    return;
  }
  for (let axis = 0; axis < dimensions.length && !issues.isFull(); axis++) {
    const extent = dimensions[axis];
    const knownExtent = known[axis] ?? 0;
    if (knownExtent !== 0 && extent !== knownExtent) {
      issues.add(
        "argument-extent",
        `${field()}[${axis}]`,
        `the extent is ${extent} where the model has ${knownExtent}`,
      );
    } else if (extent === 0 && !unknownAllowed) {
      const code = name === "inputs" ? "argument-extent-zero" : "output-shape-unknown";
      issues.add(code, `${field()}[${axis}]`, "the extent is 0 (unknown), and the model does not know it either");
    }
  }
  const size = type === undefined ? 0 : sizeOf(type, dimensions);
  if (size > greatestSize) {
    const problem = `a ${type?.name} ${showDimensions(dimensions)} takes ${size} bytes, at most ${greatestSize} are allowed`;
    issues.add("operand-size", field(), problem);
  }
}
