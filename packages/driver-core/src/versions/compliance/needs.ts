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
  isAidl,
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
  type Subgraph,
} from "@nnhal/types";
import {
  getOperandTypeName,
  getOperationName,
  isExtensionOperandType,
  isExtensionOperationType,
  nonExtensionOperandTypeIsScalar,
} from "@nnhal/utils";
import { greatestAidlPrefix, isLostInAidl } from "@nnhal/validation";
import { operandInfo } from "./constants.ts";

/** A part that not every HAL version can express. */
export interface Need {
  /** Such as `main.operations[2]`. */
  readonly path: string;
  readonly what: string;
  /** The oldest version that can express it; undefined if none can. */
  readonly version: HalVersion | undefined;
  /** The newest version that can express it. Default: all from the oldest on. */
  readonly until?: HalVersion;
}

/** Returns whether a HAL version can express a part. */
export function isMetBy({ version, until }: Need, available: HalVersion): boolean {
  return version !== undefined && version <= available && (until === undefined || available <= until);
}

/** Text for a need. */
export function describeNeed({ path, what, version, until }: Need): string {
  if (version === undefined) return `${path}: ${what} exists in no HAL version`;
  return `${path}: ${what} ${until === undefined ? `needs HAL ${version}` : `exists in HAL ${version} to ${until} only`}`;
}

const oldest: HalVersion = halVersions[0];

/** The HAL version that introduced vendor extensions, and tensors of unknown rank. */
const since12: HalVersion = "1.2";

/** The last version with OEM types, OEM_OPERATION, and prefixes of 16 bits. */
const lastHidl: HalVersion = "1.3";

/** The parts of a model that need more than HAL 1.0. */
export function modelNeeds(model: Model): Need[] {
  const { main, referenced, pools, extensionNameToPrefix } = model;
  const needs = main.operands.flatMap((operand, index) =>
    operandNeeds(operand, `main.operands[${index}]`, model.extensionNameToPrefix),
  );
  for (const [index, operation] of main.operations.entries()) {
    needs.push(...operationNeeds(model, operation, `main.operations[${index}]`));
  }
  needs.push(...pools.flatMap((pool, index) => memoryNeeds(pool, `pools[${index}]`)));
  if (referenced.length > 0) {
    needs.push({ path: "referenced", what: `a model with ${referenced.length} referenced subgraphs`, version: "1.3" });
  }
  needs.push(...referenced.flatMap((subgraph, index) => subgraphNeeds(model, subgraph, `referenced[${index}]`)));
  for (const [index, { name, prefix }] of extensionNameToPrefix.entries()) {
    if (prefix <= greatestAidlPrefix) continue;
    const what = `prefix ${prefix} of extension ${name}, which has more than 15 bits,`;
    needs.push({ path: `extensionNameToPrefix[${index}]`, what, version: since12, until: lastHidl });
  }
  return needs;
}

/** The parts of a referenced subgraph that not every version with subgraphs can express. */
function subgraphNeeds(model: Model, { operands, operations }: Subgraph, path: string): Need[] {
  const needs = operands.flatMap((operand, index) =>
    operandNeeds(operand, `${path}.operands[${index}]`, model.extensionNameToPrefix),
  );
  for (const [index, operation] of operations.entries()) {
    needs.push(...operationNeeds(model, operation, `${path}.operations[${index}]`, operands));
  }
  return needs.filter((need) => need.until !== undefined || !isMetBy(need, lastHidl));
}

/** The parts of a model that a HAL version cannot express. */
export function unmetNeeds(model: Model, version: HalVersion): Need[] {
  return modelNeeds(model).filter((need) => !isMetBy(need, version));
}

/** A part of a model that only versions of AIDL can express; undefined if it has none. */
export function aidlNeed(model: Model): Need | undefined {
  return modelNeeds(model).find(({ version }) => version !== undefined && isAidl(version));
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
  return codeNeed(version, type, path, () => operandTypeText(type, prefixes));
}

/** A lifetime, if it needs more than HAL 1.0. */
export function lifeTimeNeed(lifetime: number, path: string): Need | undefined {
  const name = operandLifeTimeNames.get(lifetime);
  const version = sinceOf(operandLifeTimes, name);
  return version === oldest ? undefined : { path, what: `lifetime ${name ?? lifetime}`, version };
}

/** An operation's code alone, if it needs more than HAL 1.0. */
export function operationTypeNeed(type: number, path: string): Need | undefined {
  return codeNeed(operationTypeVersion(type), type, path, () => getOperationName(type));
}

/** The need of a code of a type or operation that exists since a version. */
function codeNeed(version: HalVersion | undefined, code: number, path: string, what: () => string): Need | undefined {
  if (isLostInAidl(code)) return { path, what: what(), version, until: lastHidl };
  return version === oldest ? undefined : { path, what: what(), version };
}

function operationTypeVersion(type: number): HalVersion | undefined {
  if (isExtensionOperationType(type)) return since12;
  return sinceOf(operationTypes, operationTypeNames.get(type));
}

/** An operation of the main subgraph, if it needs more than HAL 1.0. `operands`: those of its subgraph, if that is another. */
export function operationNeeds(
  model: Model,
  operation: Operation,
  path: string,
  operands: readonly Operand[] = model.main.operands,
): Need[] {
  const version = operationVersion(model, operation, operands);
  const isLost = isLostInAidl(operation.type);
  if (version === oldest && !isLost) return [];
  const name = operationText(operation.type, model.extensionNameToPrefix);
  const known = operationTypeVersion(operation.type);
  const what = version === known ? name : `${name} with these operands`;
  return [{ path, what, version, ...(isLost && { until: lastHidl }) }];
}

/** The oldest HAL version that documents an operation with such operands; undefined if none does. */
function operationVersion(
  model: Model,
  { type, inputs, outputs }: Operation,
  operands: readonly Operand[],
): HalVersion | undefined {
  const since = operationTypeVersion(type);
  // The rules of extensions and OEMs for operands are not known.
  if (since === undefined || isExtensionOperationType(type) || type === OperationType.OEM_OPERATION) return since;
  const definition = operationByCode(type);
  if (definition === undefined) return undefined;
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
    return allFit && fits(operationNeeds(model, operation, `main.operations[${index}]`)) ? [] : [index];
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
