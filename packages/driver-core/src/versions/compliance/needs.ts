/**
 * Which HAL version each part of a model or request needs. The facts come from the enum tables and the type rows of the
 * operations; the rules are those of validation, so that a valid model fits a version if and only if no part of it
 * needs a later one.
 */
import { matchOperation, operandTypeText, operationByCode, operationText, requiredVersion } from "@nnhal/operations";
import {
  type EnumRow,
  type ExtensionNameAndPrefix,
  type HalVersion,
  halVersions,
  type Memory,
  type Model,
  type Operand,
  OperandLifeTime,
  type Operation,
  OperationType,
  operandLifeTimeNames,
  operandLifeTimes,
  operandTypeNames,
  operandTypes,
  operationTypeNames,
  operationTypes,
  type Request,
} from "@nnhal/types";
import {
  getOperandTypeName,
  getOperationName,
  isExtensionOperandType,
  isExtensionOperationType,
  nonExtensionOperandTypeIsScalar,
} from "@nnhal/utils";
import { operandInfo } from "./constants.ts";

/** A part that not every HAL version can express. */
export interface Need {
  /** Such as `main.operations[2]`. */
  readonly path: string;
  readonly what: string;
  /** The oldest version that can express it; undefined if none can. */
  readonly version: HalVersion | undefined;
}

/** Returns whether a HAL version can express a part. */
export function isMetBy({ version }: Need, available: HalVersion): boolean {
  return version !== undefined && version <= available;
}

/** Text for a need. */
export function describeNeed({ path, what, version }: Need): string {
  return `${path}: ${what} ${version === undefined ? "exists in no HAL version" : `needs HAL ${version}`}`;
}

const oldest: HalVersion = halVersions[0];

/** The HAL version that introduced vendor extensions, and tensors of unknown rank. */
const since12: HalVersion = "1.2";

/** The parts of a model that need more than HAL 1.0. */
export function modelNeeds(model: Model): Need[] {
  const { main, referenced, pools } = model;
  const needs = main.operands.flatMap((operand, index) =>
    operandNeeds(operand, `main.operands[${index}]`, model.extensionNameToPrefix),
  );
  for (const [index, operation] of main.operations.entries()) needs.push(...operationNeeds(model, operation, index));
  needs.push(...pools.flatMap((pool, index) => memoryNeeds(pool, `pools[${index}]`)));
  if (referenced.length > 0) {
    needs.push({ path: "referenced", what: `a model with ${referenced.length} referenced subgraphs`, version: "1.3" });
  }
  return needs;
}

/** The parts of a model that a HAL version cannot express. */
export function unmetNeeds(model: Model, version: HalVersion): Need[] {
  return modelNeeds(model).filter((need) => !isMetBy(need, version));
}

/** The parts of an operand that need more than HAL 1.0. */
export function operandNeeds(
  { type, lifetime, dimensions, extraParams }: Operand,
  path: string,
  prefixes: readonly ExtensionNameAndPrefix[] = [],
): Need[] {
  const needs = [operandTypeNeed(type, path, prefixes), lifeTimeNeed(lifetime, path)];
  if (extraParams.kind !== "none") {
    needs.push({ path, what: `extraParams of kind ${extraParams.kind}`, version: since12 });
  }
  if (dimensions.length === 0 && operandTypeNames.has(type) && !nonExtensionOperandTypeIsScalar(type)) {
    needs.push({ path, what: `a ${getOperandTypeName(type)} of unknown rank`, version: since12 });
  }
  return needs.filter(isSome);
}

/** An operand's type, if it needs more than HAL 1.0. */
function operandTypeNeed(type: number, path: string, prefixes: readonly ExtensionNameAndPrefix[]): Need | undefined {
  const name = operandTypeNames.get(type);
  const version = isExtensionOperandType(type) ? since12 : sinceOf(operandTypes, name);
  return version === oldest ? undefined : { path, what: operandTypeText(type, prefixes), version };
}

/** A lifetime, if it needs more than HAL 1.0. */
export function lifeTimeNeed(lifetime: number, path: string): Need | undefined {
  const name = operandLifeTimeNames.get(lifetime);
  const version = sinceOf(operandLifeTimes, name);
  return version === oldest ? undefined : { path, what: `lifetime ${name ?? lifetime}`, version };
}

/** An operation's code alone, if it needs more than HAL 1.0. */
export function operationTypeNeed(type: number, path: string): Need | undefined {
  const version = operationTypeVersion(type);
  return version === oldest ? undefined : { path, what: getOperationName(type), version };
}

function operationTypeVersion(type: number): HalVersion | undefined {
  if (isExtensionOperationType(type)) return since12;
  return sinceOf(operationTypes, operationTypeNames.get(type));
}

/** An operation of the main subgraph, if it needs more than HAL 1.0. */
export function operationNeeds(model: Model, operation: Operation, index: number): Need[] {
  const version = operationVersion(model, operation);
  if (version === oldest) return [];
  const name = operationText(operation.type, model.extensionNameToPrefix);
  const known = operationTypeVersion(operation.type);
  const what = version === known ? name : `${name} with these operands`;
  return [{ path: `main.operations[${index}]`, what, version }];
}

/** The oldest HAL version that documents an operation with such operands; undefined if none does. */
function operationVersion(model: Model, { type, inputs, outputs }: Operation): HalVersion | undefined {
  const since = operationTypeVersion(type);
  // The rules of extensions and OEMs for operands are not known.
  if (since === undefined || isExtensionOperationType(type) || type === OperationType.OEM_OPERATION) return since;
  const definition = operationByCode(type);
  if (definition === undefined) return undefined;
  const { operands } = model.main;
  const typeOf = (index: number) => {
    const operand = operands[index];
    return operand && operandTypeNames.get(operand.type);
  };
  const match = matchOperation(definition, inputs.map(typeOf), outputs.map(typeOf));
  if ("mismatch" in match) return undefined;
  const infoOf = (index: number) => {
    const operand = operands[index];
    return operand === undefined || operand.lifetime === OperandLifeTime.NO_VALUE
      ? undefined
      : operandInfo(operand, model);
  };
  const required = requiredVersion(match, inputs.map(infoOf), outputs.map(infoOf).filter(isSome));
  return required > since ? required : since;
}

const memoryNames: ReadonlyMap<string, HalVersion> = new Map([
  ["ashmem", "1.0"],
  ["mmap_fd", "1.0"],
  ["hardware_buffer_blob", "1.2"],
  ["hardware_buffer", "1.2"],
]);

/** A memory, if it needs more than HAL 1.0. */
export function memoryNeeds({ name }: Memory, path: string): Need[] {
  const version = memoryNames.get(name);
  return version === oldest ? [] : [{ path, what: `memory of kind ${JSON.stringify(name)}`, version }];
}

/** The pools of a request that need more than HAL 1.0. */
export function requestNeeds({ pools }: Request): Need[] {
  return pools.flatMap((pool, index): Need[] => {
    const path = `pools[${index}]`;
    if (pool.kind === "token") return [{ path, what: `a pool given by token ${pool.token}`, version: "1.3" }];
    return memoryNeeds(pool.memory, path);
  });
}

/**
 * The operations of the main subgraph that a HAL version cannot express, by index: themselves, one of their operands, or
 * the pool of a constant that they read needs a later version.
 */
export function noncompliantOperations(model: Model, version: HalVersion): number[] {
  const { operands, operations } = model.main;
  const fits = (needs: readonly Need[]) => needs.every((need) => isMetBy(need, version));
  const poolFits = model.pools.map((pool) => fits(memoryNeeds(pool, "")));
  const operandFits = operands.map(
    (operand) =>
      fits(operandNeeds(operand, "")) &&
      (operand.lifetime !== OperandLifeTime.CONSTANT_REFERENCE || poolFits[operand.location.poolIndex]),
  );
  return operations.flatMap((operation, index) => {
    const { inputs, outputs } = operation;
    const allFit = inputs.every((operand) => operandFits[operand]) && outputs.every((operand) => operandFits[operand]);
    return allFit && fits(operationNeeds(model, operation, index)) ? [] : [index];
  });
}

function sinceOf<Name extends string>(
  table: Readonly<Record<Name, EnumRow>>,
  name: Name | undefined,
): HalVersion | undefined {
  return name === undefined ? undefined : table[name].since;
}

function isSome<Value>(value: Value | undefined): value is Value {
  return value !== undefined;
}
