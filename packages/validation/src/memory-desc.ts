/**
 * Validation of a driver-managed buffer's description (rules 53 and 54; HAL 1.3 IDevice.allocate): roles as inputs and outputs of
 * prepared models, whose operands must be of one kind.
 */
import { combineDimensions, operandTypeText } from "@nnhal/operations";
import type { BufferDesc, BufferRole, ExtensionNameAndPrefix, Model, Operand } from "@nnhal/types";
import { isSameTypeIn, sameExtraParams } from "./compatible.ts";
import { createIssueList, type Issue, type IssueList, show, showDimensions } from "./issues.ts";
import { isReadable } from "./operand.ts";
import { isList, isObject, isUint32, isUint32List, readUntrusted } from "./structure.ts";
import { isExtensionOperandType, knownOperandType } from "./type-ranges.ts";

/**
 * A prepared model as validation sees it. A driver passes its own record of each prepared model, the same object for the
 * same prepared model at any place of the list, and null for one that is null or belongs to another device.
 */
export interface PreparedModelRecord {
  readonly model: Model;
}

/** A request for a driver-managed buffer. */
export interface AllocationRequest {
  readonly desc: BufferDesc;
  readonly preparedModels: readonly (PreparedModelRecord | null)[];
  readonly inputRoles: readonly BufferRole[];
  readonly outputRoles: readonly BufferRole[];
}

/** The common facts of all roles' operands. */
export interface BufferOperand extends Pick<Operand, "type" | "scale" | "zeroPoint" | "extraParams"> {
  /** The dimensions of the descriptor and of all roles combined. */
  readonly dimensions: readonly number[];
}

/** The rules that a request for a buffer breaks, and the buffer's operand if it breaks none. */
export interface MemoryDescResult {
  readonly issues: readonly Issue[];
  readonly operand: BufferOperand | undefined;
}

/** Validates a request for a buffer, and determines the operand that the buffer holds. Never throws. */
export function describeBuffer(request: AllocationRequest): MemoryDescResult {
  const issues = createIssueList();
  try {
    const operand = checkMemoryDesc(request, issues);
    return { issues: issues.items, operand: issues.items.length === 0 ? operand : undefined };
  } catch (error) {
    issues.add("structure", "request", `reading it failed: ${show(error)}`);
    return { issues: issues.items, operand: undefined };
  }
}

/** The rules that a request for a buffer breaks; none for a valid one. */
export function memoryDescIssues(request: AllocationRequest): readonly Issue[] {
  return describeBuffer(request).issues;
}

/** Returns whether a request for a buffer is valid. */
export function validateMemoryDesc(request: AllocationRequest): boolean {
  return memoryDescIssues(request).length === 0;
}

/** The operand of a role, and the role's path. */
interface RoleOperand {
  readonly operand: Operand;
  readonly prefixes: readonly ExtensionNameAndPrefix[];
  readonly path: string;
}

function checkMemoryDesc(request: AllocationRequest, issues: IssueList): BufferOperand | undefined {
  if (!isObject(request) || !isObject(request.desc) || !isUint32List(request.desc.dimensions)) {
    issues.add("structure", "desc.dimensions", "the descriptor has no list of dimensions");
    return undefined;
  }
  for (const list of ["preparedModels", "inputRoles", "outputRoles"] as const) {
    if (isList(request[list])) continue;
    issues.add("structure", list, `${list}: expected an array, got ${show(request[list])}`);
    return undefined;
  }
  if (request.preparedModels.length === 0) issues.add("buffer-models", "preparedModels", "there is no prepared model");
  if (request.inputRoles.length + request.outputRoles.length === 0) {
    issues.add("buffer-roles", "inputRoles", "there are neither input roles nor output roles");
  }
  const operands = [...roleOperands(request, "inputRoles", issues), ...roleOperands(request, "outputRoles", issues)];
  return combineOperands(request.desc, operands, issues);
}

/** The operands of the valid roles, and issues for the others (rule 53). */
function roleOperands(
  request: AllocationRequest,
  list: "inputRoles" | "outputRoles",
  issues: IssueList,
): RoleOperand[] {
  const taken = new Map<PreparedModelRecord, Set<number>>();
  const operands: RoleOperand[] = [];
  for (let position = 0; position < request[list].length && !issues.isFull(); position++) {
    const path = `${list}[${position}]`;
    const role = request[list][position];
    if (!isObject(role)) {
      issues.add("structure", path, `the role is ${show(role)}`);
      continue;
    }
    const record = checkedRecord(request, role, path, issues);
    if (record === undefined) continue;
    const operand = operandOf(record, role.ioIndex, list, path, issues);
    if (operand === undefined) continue;
    const indexes = taken.get(record) ?? new Set();
    taken.set(record, indexes);
    if (indexes.has(role.ioIndex)) {
      issues.add(
        "buffer-role-duplicate",
        path,
        `${roleName(list)} ${role.ioIndex} of the prepared model has this role already`,
      );
    }
    indexes.add(role.ioIndex);
    operands.push({ operand, prefixes: record.model.extensionNameToPrefix, path });
  }
  return operands;
}

function roleName(list: "inputRoles" | "outputRoles"): string {
  return list === "inputRoles" ? "input" : "output";
}

function checkedRecord(
  { preparedModels }: AllocationRequest,
  { modelIndex, frequency }: BufferRole,
  path: string,
  issues: IssueList,
): PreparedModelRecord | undefined {
  if (typeof frequency !== "number" || !(frequency > 0 && frequency <= 1)) {
    const problem = `the frequency: expected a number within (0, 1], got ${show(frequency)}`;
    issues.add("buffer-role-frequency", `${path}.frequency`, problem);
  }
  if (!isUint32(modelIndex) || modelIndex >= preparedModels.length) {
    const problem = `the modelIndex is ${show(modelIndex)} where there are ${preparedModels.length} prepared models`;
    issues.add("buffer-role-model-index", `${path}.modelIndex`, problem);
    return undefined;
  }
  const record = preparedModels[modelIndex];
  if (isObject(record) && isObject(record.model) && isObject(record.model.main)) return record;
  issues.add(
    "buffer-role-model",
    `preparedModels[${modelIndex}]`,
    "it is null, or not a prepared model of this device",
  );
  return undefined;
}

function operandOf(
  { model: { main } }: PreparedModelRecord,
  ioIndex: number,
  list: "inputRoles" | "outputRoles",
  path: string,
  issues: IssueList,
): Operand | undefined {
  const indexes = list === "inputRoles" ? main.inputIndexes : main.outputIndexes;
  if (!isUint32(ioIndex) || ioIndex >= indexes.length) {
    const problem = `the ioIndex is ${show(ioIndex)} where the model has ${indexes.length} ${roleName(list)}s`;
    issues.add("buffer-role-index", `${path}.ioIndex`, problem);
    return undefined;
  }
  const operand = readUntrusted(main.operands, indexes[ioIndex]);
  if (isReadable(operand)) return operand;
  issues.add("structure", path, "the model's operand for the role cannot be read");
  return undefined;
}

/** The common facts of all operands, and issues if they differ (rule 54). */
function combineOperands(
  { dimensions: described }: BufferDesc,
  operands: readonly RoleOperand[],
  issues: IssueList,
): BufferOperand | undefined {
  const [first] = operands;
  if (first === undefined) return undefined;
  const { type, scale, zeroPoint, extraParams } = first.operand;
  const isExtension = isExtensionOperandType(type);
  let dimensions = described;
  for (const { operand, prefixes, path } of operands) {
    const than = `where ${first.path} has`;
    if (!isSameTypeIn(operand.type, prefixes, type, first.prefixes)) {
      const wanted = operandTypeText(type, first.prefixes);
      issues.add("buffer-type", path, `the type is ${operandTypeText(operand.type, prefixes)} ${than} ${wanted}`);
      continue;
    }
    if (operand.scale !== scale) issues.add("buffer-scale", path, `the scale is ${operand.scale} ${than} ${scale}`);
    if (operand.zeroPoint !== zeroPoint) {
      issues.add("buffer-zero-point", path, `the zeroPoint is ${operand.zeroPoint} ${than} ${zeroPoint}`);
    }
    if (!isExtension && !sameExtraParams(operand.extraParams, extraParams)) {
      issues.add("buffer-extra-params", path, `the extraParams differ from those of ${first.path}`);
    }
    const combined = combineDimensions(dimensions, operand.dimensions);
    if (combined === undefined) {
      const shown = `${showDimensions(operand.dimensions)} where ${showDimensions(dimensions)} is known so far`;
      issues.add("buffer-dimensions", path, `the dimensions are ${shown}`);
    } else dimensions = combined;
  }
  const known = knownOperandType(type);
  if (known !== undefined && known.kind !== "tensor" && dimensions.length > 0) {
    const problem = `a ${known.name} has dimensions ${showDimensions(dimensions)} where none are allowed`;
    issues.add("buffer-scalar-dimensions", "desc.dimensions", problem);
  }
  return { type, scale, zeroPoint, extraParams, dimensions };
}
