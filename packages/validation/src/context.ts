/**
 * The common context of the checks of one model: the rules' version and tables, the list of issues, and the HAL versions that parts of
 * the model require.
 */
import type { Match, Vocabulary } from "@nnhal/operations";
import type { ExtensionNameAndPrefix, HalVersion, Memory, Operation, Subgraph } from "@nnhal/types";
import type { IssueList } from "./issues.ts";
import type { RuleCode } from "./rules.ts";

/** Whose rules apply. `driver`: a driver's. `runtime`: the framework's, which lets WHILE operands have unknown sizes. */
export type ValidationMode = "driver" | "runtime";

/** Part of a model that needs more than HAL 1.0. */
export interface VersionRequirement {
  readonly version: HalVersion;
  readonly path: string;
  /** The part that needs the version, in words. */
  readonly message: string;
}

/** See the file's head. */
export interface ModelContext {
  readonly version: HalVersion;
  readonly mode: ValidationMode;
  /** Types and operations of the HAL and of the extensions that are known. */
  readonly vocabulary: Vocabulary;
  /** The valid entries of `Model.extensionNameToPrefix`. */
  readonly prefixes: readonly ExtensionNameAndPrefix[];
  readonly issues: IssueList;
  /** Receives requirements above `version`; undefined: they are issues. */
  readonly requirements: VersionRequirement[] | undefined;
  /** Receives the form and type row of each operation; undefined: they are not kept. */
  readonly matches?: Map<Operation, Match> | undefined;
  readonly referenced: readonly Subgraph[];
  readonly operandValues: Uint8Array;
  readonly pools: readonly Memory[];
}

/** Reports that a part of the model needs a HAL version: an issue under the rule's code if the model's version is older. */
export function requireVersion(
  { version, issues, requirements }: ModelContext,
  needed: HalVersion,
  code: RuleCode,
  path: string,
  what: string,
): void {
  if (needed <= version) return;
  if (requirements !== undefined) requirements.push({ version: needed, path, message: `${what} needs HAL ${needed}` });
  else issues.add(code, path, `${what} needs HAL ${needed}, the model is of ${version}`);
}

/** An operand under validation. */
export interface OperandPlace {
  readonly context: ModelContext;
  /** The subgraph's path. */
  readonly at: string;
  readonly index: number;
}

/** Adds an issue on one field of an operand, such as `.scale`; "" is the operand itself. */
export function addIssue(place: OperandPlace, code: RuleCode, field: string, message: string): void {
  place.context.issues.add(code, operandPath(place, field), message);
}

/** The path of one field of an operand. */
export function operandPath({ at, index }: OperandPlace, field: string): string {
  return `${at}.operands[${index}]${field}`;
}
