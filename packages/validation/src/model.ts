/**
 * Validation of models: rules 1 – 41 and those that the HAL implies.
 */
import {
  type ExtensionDefinition,
  elementAt,
  isExtensionName,
  type Match,
  type MaybeType,
  type TensorInfo,
  vocabularyOf,
} from "@nnhal/operations";
import {
  type ExtensionNameAndPrefix,
  type HalVersion,
  isAidl,
  type Model,
  newestHalVersion,
  type Operation,
  type Subgraph,
} from "@nnhal/types";
import { checkModelOfAidl } from "./aidl.ts";
import { type ModelContext, requireVersion, type ValidationMode } from "./context.ts";
import { type ControlFlowOperation, checkControlFlow } from "./control-flow.ts";
import { checkBoundary, checkOrder } from "./graph.ts";
import { collectIssues, type Issue, type IssueList, show } from "./issues.ts";
import { checkOperand, Soundness } from "./operand.ts";
import { checkOperation, OperationOutcome } from "./operation.ts";
import { memoryFacts } from "./pool.ts";
import { checkReferenceCycles } from "./reference-cycle.ts";
import { isBytes, isObject, isUint32 } from "./structure.ts";
import type { SubgraphView } from "./subgraph-view.ts";

/** Options of validating a model. */
export interface ModelValidationOptions {
  /** The HAL version whose rules apply. Default: the newest, with the codes that HAL 1.0 to 1.3 alone have (OEM types, prefixes of 16 bits). */
  readonly version?: HalVersion;
  /** Default `driver`. */
  readonly mode?: ValidationMode;
  /** Most issues to look for. Default 32. */
  readonly limit?: number;
  /** Extensions by whose definitions operands and operations are checked. Those of other extensions are accepted. Default: none. */
  readonly extensions?: readonly ExtensionDefinition[];
}

/**
 * Results of shape inference that go beyond a subgraph's declarations, by operand: facts of outputs of operations whose inputs are
 * known. Undefined or absent for all other operands: only their declarations are known.
 */
export type InferredShapes = readonly (TensorInfo | undefined)[];

/** The results of validating a model. */
export interface ModelAnalysis {
  /** The rules that the model breaks; none for a valid model. */
  readonly issues: readonly Issue[];
  /** The shapes of the main subgraph. */
  readonly main: InferredShapes;
  /** The shapes of each referenced subgraph, in order; fewer if as many issues as are wanted were found before. */
  readonly referenced: readonly InferredShapes[];
}

/** Validates a model by the rules of HIDL, and infers its shapes as far as it fixes them. Never throws, whatever the model's fields hold. */
export function analyseModel(model: Model, options: ModelValidationOptions = {}): ModelAnalysis {
  let shapes: InferredModelShapes = { main: [], referenced: [] };
  const issues = collectIssues("model", options.limit, (list) => {
    shapes = checkModel(model, options, list, undefined);
  });
  return { issues, ...shapes };
}

/** The rules that a model breaks; none for a valid model. Never throws, whatever the model's fields hold. */
export function modelIssues(model: Model, options: ModelValidationOptions = {}): Issue[] {
  return collectIssues("model", options.limit, (issues) => {
    checkModel(model, options, issues, undefined);
    const { version } = options;
    if (version !== undefined && isAidl(version)) checkModelOfAidl(model, version, issues);
  });
}

/** Returns whether a model is valid. */
export function validateModel(model: Model, options: ModelValidationOptions = {}): boolean {
  return modelIssues(model, { ...options, limit: 1 }).length === 0;
}

type InferredModelShapes = Pick<ModelAnalysis, "main" | "referenced">;

/** Intermediate results of the checks of one model. */
interface Findings {
  /** By subgraph; one that has not been checked is absent. */
  readonly inferred: Map<Subgraph, InferredShapes>;
  readonly controlFlow: ControlFlowOperation[];
}

/**
 * Checks a model. HAL versions that its parts need go to `requirements` if it is given, else they are issues. `matches` receives the
 * form and type row of each operation that fits its definition; no two operations of the model may be the same object.
 */
export function checkModel(
  model: Model,
  { version = newestHalVersion, mode = "driver", extensions = [] }: ModelValidationOptions,
  issues: IssueList,
  requirements: ModelContext["requirements"],
  matches?: Map<Operation, Match>,
): InferredModelShapes {
  if (!isObject(model)) {
    issues.add("structure", "model", `the model is ${show(model)}`);
    return { main: [], referenced: [] };
  }
  const prefixes = checkExtensionMapping(issues, model);
  const context: ModelContext = {
    version,
    mode,
    vocabulary: vocabularyOf(prefixes, { extensions }),
    prefixes,
    issues,
    requirements,
    matches,
    referenced: listOf(issues, "referenced", model.referenced),
    operandValues: bytesOf(issues, model.operandValues),
    pools: listOf(issues, "pools", model.pools),
  };
  if (typeof model.relaxComputationFloat32toFloat16 !== "boolean") {
    const shown = show(model.relaxComputationFloat32toFloat16);
    issues.add("structure", "relaxComputationFloat32toFloat16", `the flag: expected a boolean, got ${shown}`);
  }
  checkNotEmpty(context, model.main);
  const findings: Findings = { inferred: new Map(), controlFlow: [] };
  const { main } = model;
  checkSubgraph(context, findings, main, "main");
  const referenced = checkReferenced(context, findings);
  for (const operation of findings.controlFlow) {
    if (issues.isFull()) break;
    checkControlFlow(context, operation, findings.inferred);
  }
  checkPools(context);
  checkReferenceCycles(context, (subgraph) => findings.inferred.has(subgraph));
  return { main: shapesOf(findings, main), referenced };
}

function shapesOf({ inferred }: Findings, subgraph: Subgraph | undefined): InferredShapes {
  return (subgraph && inferred.get(subgraph)) ?? [];
}

function listOf<Item>(issues: IssueList, path: string, list: readonly Item[]): readonly Item[] {
  if (Array.isArray(list)) return list;
  issues.add("structure", path, `${path}: expected an array, got ${show(list)}`);
  return [];
}

function bytesOf(issues: IssueList, bytes: Uint8Array): Uint8Array {
  if (isBytes(bytes)) return bytes;
  issues.add("structure", "operandValues", `operandValues: expected a Uint8Array, got ${show(bytes)}`);
  return new Uint8Array(0);
}

function checkNotEmpty({ issues }: ModelContext, main: Subgraph): void {
  for (const list of ["operands", "operations"] as const) {
    if (isObject(main) && Array.isArray(main[list]) && main[list].length === 0) {
      issues.add("model-empty", `main.${list}`, `the main subgraph has no ${list}`);
    }
  }
}

function checkSubgraph(context: ModelContext, findings: Findings, subgraph: Subgraph | undefined, at: string): void {
  const { issues } = context;
  if (!isObject(subgraph)) {
    issues.add("structure", at, `the subgraph is ${show(subgraph)}`);
    return;
  }
  for (const list of ["operands", "operations", "inputIndexes", "outputIndexes"] as const) {
    if (Array.isArray(subgraph[list])) continue;
    issues.add("structure", `${at}.${list}`, `${list}: expected an array, got ${show(subgraph[list])}`);
    return;
  }
  const { operands, operations } = subgraph;
  const soundness: Soundness[] = [];
  const types: MaybeType[] = [];
  let allReadable = true;
  for (let index = 0; index < operands.length; index++) {
    if (issues.isFull()) return;
    soundness[index] = checkOperand({ context, at, index }, operands[index]);
    if (soundness[index] === Soundness.garbage) allReadable = false;
    else types[index] = context.vocabulary.operandTypeByCode(elementAt(operands, index).type);
  }
  const inferred: (TensorInfo | undefined)[] = [];
  findings.inferred.set(subgraph, inferred);
  const view: SubgraphView = { at, subgraph, soundness, types, inferred, largeConstants: new Map() };
  for (let index = 0; index < operations.length; index++) {
    if (issues.isFull()) return;
    const outcome = checkOperation(context, view, index);
    if (outcome === OperationOutcome.unreadable) allReadable = false;
    if (outcome === OperationOutcome.controlFlow) findings.controlFlow.push({ view, index });
  }
  checkBoundary(context, view);
  if (allReadable) checkOrder(context, view);
}

/** Rule 40. A subgraph that is listed more than once is checked once. */
function checkReferenced(context: ModelContext, findings: Findings): InferredShapes[] {
  const { issues, referenced, version } = context;
  if (referenced.length > 0 && version < "1.3") {
    requireVersion(
      context,
      "1.3",
      "referenced-subgraphs",
      "referenced",
      `a model with ${referenced.length} referenced subgraphs`,
    );
  }
  const checked = new Set<Subgraph | undefined>();
  const shapes: InferredShapes[] = [];
  for (let index = 0; index < referenced.length && !issues.isFull(); index++) {
    const subgraph = referenced[index];
    // Only of objects: any number of holes in the list are as many issues.
    if (!isObject(subgraph) || !checked.has(subgraph)) {
      checked.add(subgraph);
      checkSubgraph(context, findings, subgraph, `referenced[${index}]`);
    }
    shapes.push(shapesOf(findings, subgraph));
  }
  return shapes;
}

/** Rule 35. */
function checkPools(context: ModelContext): void {
  const { issues, pools, version } = context;
  for (let index = 0; index < pools.length && !issues.isFull(); index++) {
    const facts = memoryFacts(pools[index]);
    const path = `pools[${index}]`;
    if ("problem" in facts) issues.add("model-pool", `${path}${facts.field}`, facts.problem);
    else if (facts.since > version) requireVersion(context, facts.since, "model-pool", path, facts.what);
  }
}

/** Rule 58. Returns the valid entries. */
function checkExtensionMapping(issues: IssueList, { extensionNameToPrefix }: Model): ExtensionNameAndPrefix[] {
  const valid: ExtensionNameAndPrefix[] = [];
  const names = new Set<string>();
  const prefixes = new Set<number>();
  const list = listOf(issues, "extensionNameToPrefix", extensionNameToPrefix);
  for (let index = 0; index < list.length && !issues.isFull(); index++) {
    const path = `extensionNameToPrefix[${index}]`;
    const entry = list[index];
    if (!isObject(entry) || typeof entry.name !== "string" || !isUint32(entry.prefix)) {
      issues.add(
        "structure",
        path,
        `the entry is ${show(entry)} of name ${show(entry?.name)} and prefix ${show(entry?.prefix)}`,
      );
      continue;
    }
    const { name, prefix } = entry;
    const before = issues.items.length;
    if (!isExtensionName(name)) {
      const expected = "a reverse domain name of lower case letters, digits, underscores and dots";
      issues.add("extension-name", `${path}.name`, `the name: expected ${expected}, got ${show(name)}`);
    }
    if (prefix === 0 || prefix > 0xffff) {
      issues.add(
        "extension-mapping",
        `${path}.prefix`,
        `the prefix: expected a number within [1, 65535], got ${prefix}`,
      );
    }
    if (names.has(name)) issues.add("extension-mapping", `${path}.name`, `${show(name)} has a prefix already`);
    if (prefixes.has(prefix))
      issues.add("extension-mapping", `${path}.prefix`, `prefix ${prefix} belongs to another extension`);
    names.add(name);
    prefixes.add(prefix);
    if (issues.items.length === before) valid.push({ name, prefix });
  }
  return valid;
}
