/**
 * Rules on one operation (27, 28, 30, 57): its type, its operands, and the rules of its definition.
 */
import {
  bindInputs,
  bindOutputs,
  elementAt,
  latestVersion,
  layOut,
  type Match,
  matchOperation,
  type OperandInfo,
  type Operation as OperationDefinition,
  OperationError,
  operationText,
  type Param,
  type RankRule,
  rankProblem,
} from "@nnhal/operations";
import { OperandLifeTime, type Operation, operandLifeTimeNames } from "@nnhal/types";
import { type ModelContext, requireVersion } from "./context.ts";
import { show } from "./issues.ts";
import { Soundness } from "./operand.ts";
import { checkShapes } from "./shapes.ts";
import { isObject, isUint32 } from "./structure.ts";
import { type BoundOperands, operandInfo, type SubgraphView } from "./subgraph-view.ts";
import {
  extensionOf,
  extensionsSince,
  isExtensionOperationType,
  knownOperationType,
  unknownPrefix,
} from "./type-ranges.ts";

/** Outcome of checking an operation. */
export const OperationOutcome = {
  /** Its operands are not known. */
  unreadable: 0,
  readable: 1,
  /** An IF or WHILE whose operands fit its signature: rule 29 remains to be checked. */
  controlFlow: 2,
} as const;
export type OperationOutcome = (typeof OperationOutcome)[keyof typeof OperationOutcome];

/** Checks operation `index` of a subgraph, except rule 29. */
export function checkOperation(context: ModelContext, view: SubgraphView, index: number): OperationOutcome {
  const operation = view.subgraph.operations[index];
  const at = `${view.at}.operations[${index}]`;
  const { issues } = context;
  if (!isObject(operation) || typeof operation.type !== "number") {
    issues.add("structure", at, `the operation is ${show(operation)} of type ${show(operation?.type)}`);
    return OperationOutcome.unreadable;
  }
  if (!Array.isArray(operation.inputs) || !Array.isArray(operation.outputs)) {
    const shown = `inputs ${show(operation.inputs)} and outputs ${show(operation.outputs)}`;
    issues.add("structure", at, `expected arrays of operands, got ${shown}`);
    return OperationOutcome.unreadable;
  }
  const name = operationName(context, operation.type);
  const inputs = operandsOf(context, view, operation.inputs, `${at}.inputs`, name);
  const outputs = operandsOf(context, view, operation.outputs, `${at}.outputs`, name);
  if (inputs === "unknown" || outputs === "unknown") return OperationOutcome.unreadable;
  checkOutputLifetimes(context, view, operation, at, name);
  const definition = definitionOf(context, operation, at, name);
  // An operand that breaks a rule has been reported. Issues of operations that use it would be noise.
  if (definition !== undefined && inputs === "right" && outputs === "right") {
    const fits = checkSignature(context, view, operation, definition, at);
    if (fits && definition.controlFlow) return OperationOutcome.controlFlow;
  }
  return OperationOutcome.readable;
}

function operationName({ vocabulary, prefixes }: ModelContext, type: number): string {
  return operationText(type, prefixes, vocabulary);
}

/** Checks that the operands that an operation names exist, and returns whether they are valid. */
function operandsOf(
  { issues }: ModelContext,
  { soundness }: SubgraphView,
  indexes: readonly number[],
  path: string,
  name: string,
): "right" | "wrong" | "unknown" {
  let result: "right" | "wrong" = "right";
  for (let position = 0; position < indexes.length; position++) {
    const index = indexes[position];
    if (!isUint32(index) || index >= soundness.length) {
      const problem = `${name} names operand ${show(index)} where the subgraph has ${soundness.length} operands`;
      issues.add("operation-operand-index", `${path}[${position}]`, problem);
      return "unknown";
    }
    const known = soundness[index];
    if (known === Soundness.garbage) return "unknown";
    if (known === Soundness.wrong) result = "wrong";
  }
  return result;
}

function checkOutputLifetimes(
  { issues }: ModelContext,
  { subgraph }: SubgraphView,
  { outputs }: Operation,
  at: string,
  name: string,
): void {
  for (const [position, index] of outputs.entries()) {
    const { lifetime } = elementAt(subgraph.operands, index);
    if (lifetime === OperandLifeTime.TEMPORARY_VARIABLE || lifetime === OperandLifeTime.SUBGRAPH_OUTPUT) continue;
    const shown = operandLifeTimeNames.get(lifetime) ?? lifetime;
    const problem = `${name} writes operand ${index} of lifetime ${shown}`;
    issues.add("output-lifetime", `${at}.outputs[${position}]`, problem);
  }
}

/** The definition of an operation; undefined if there is none, or if the operation's type is an issue. */
function definitionOf(
  context: ModelContext,
  { type }: Operation,
  at: string,
  name: string,
): OperationDefinition | undefined {
  const { issues, version, vocabulary, prefixes } = context;
  const path = `${at}.type`;
  const isExtension = isExtensionOperationType(type);
  if (isExtension) {
    if (extensionsSince > version) requireVersion(context, extensionsSince, "extension-operation-version", path, name);
    if (extensionOf(type, prefixes) === undefined) issues.add("extension-prefix", path, unknownPrefix(type));
    // A later version of an extension may have more operations than the one that is known.
    return vocabulary.operationByCode(type);
  }
  const known = knownOperationType(type);
  if (known === undefined) {
    issues.add("operation-type", path, `${type} is not an operation type`);
    return undefined;
  }
  if (known.since > version) {
    requireVersion(context, known.since, "operation-type", path, name);
    // The later version is the only issue, unless requirements are collected.
    if (context.requirements === undefined) return undefined;
  }
  return vocabulary.operationByCode(type);
}

/** Checks an operation against its definition. False: its operands do not fit the signature. */
function checkSignature(
  context: ModelContext,
  view: SubgraphView,
  operation: Operation,
  definition: OperationDefinition,
  at: string,
): boolean {
  const { issues } = context;
  const { name } = definition;
  const match = matchOperation(
    definition,
    operation.inputs.map((operand) => view.types[operand]),
    operation.outputs.map((operand) => view.types[operand]),
  );
  if ("mismatch" in match) {
    issues.add("operation-signature", at, `${name}: ${match.mismatch}`);
    return false;
  }
  context.matches?.set(operation, match);
  if (!checkOmitted(context, view, operation, match, at, name)) return false;
  if (!checkRanks(context, view, operation, definition, match, at)) return false;
  const inputs = operation.inputs.map((operand) =>
    elementAt(view.subgraph.operands, operand).lifetime === OperandLifeTime.NO_VALUE
      ? undefined
      : operandInfo(context, view, operand),
  );
  const outputs = operation.outputs.map((operand) => operandInfo(context, view, operand)).filter(isKnown);
  const operands: BoundOperands = { inputs, outputs, args: bindInputs(match.form, inputs) };
  if (checkOwnRules(context, operands, match, at, name)) {
    checkShapes(context, view, operation, definition, match, operands, at);
  }
  return true;
}

/** Rule 57: only optional operands have lifetime NO_VALUE. */
function checkOmitted(
  { issues }: ModelContext,
  { subgraph }: SubgraphView,
  { inputs }: Operation,
  { form }: Match,
  at: string,
  name: string,
): boolean {
  const params = layOut(form.params, form.counts, inputs.length);
  for (const [position, index] of inputs.entries()) {
    if (elementAt(subgraph.operands, index).lifetime !== OperandLifeTime.NO_VALUE) continue;
    const param = params?.[position];
    if (param === undefined || param.omittable) continue;
    const problem = `${name}: input ${position} (${param.name}) has lifetime NO_VALUE, but is not optional`;
    issues.add("operand-no-value", `${at}.inputs[${position}]`, problem);
    return false;
  }
  return true;
}

/** Ranks that are known are ones that the operation allows. */
function checkRanks(
  context: ModelContext,
  view: SubgraphView,
  { inputs, outputs }: Operation,
  definition: OperationDefinition,
  { form }: Match,
  at: string,
): boolean {
  const inputParams = layOut(form.params, form.counts, inputs.length) ?? [];
  const outputParams = layOut(form.outputs, form.outputCounts, outputs.length) ?? [];
  return (
    checkRanksOf(context, view, definition, inputParams, inputs, at, "inputs") &&
    checkRanksOf(context, view, definition, outputParams, outputs, at, "outputs")
  );
}

function checkRanksOf(
  { issues }: ModelContext,
  { subgraph }: SubgraphView,
  { name, ranks }: OperationDefinition,
  params: readonly Param[],
  indexes: readonly number[],
  at: string,
  side: "inputs" | "outputs",
): boolean {
  for (const [position, param] of params.entries()) {
    const rule: RankRule | undefined = ranks[param.name];
    if (rule === undefined) continue;
    const { dimensions, lifetime } = elementAt(subgraph.operands, elementAt(indexes, position));
    const rank = dimensions.length;
    // No dimensions: the rank is not known yet.
    if (rank === 0) continue;
    // A request may omit the argument, and then the operand's dimensions mean nothing.
    if (param.omittable && lifetime === OperandLifeTime.SUBGRAPH_INPUT) continue;
    const problem = rankProblem(rule, rank);
    if (problem === undefined) continue;
    issues.add("operation-rank", `${at}.${side}[${position}]`, `${name}: ${param.name}: ${problem}`);
    return false;
  }
  return true;
}

/**
 * The rules that the definition's rows cannot say, and the HAL version that the operands need. False: one of the rules is
 * broken.
 */
function checkOwnRules(
  context: ModelContext,
  { args, outputs: list }: BoundOperands,
  match: Match,
  at: string,
  name: string,
): boolean {
  const { issues, version } = context;
  const { check, since: sinceOf } = match.form;
  let { since } = match;
  if (check !== undefined || sinceOf !== undefined) {
    try {
      const outputs = bindOutputs(match.form, list);
      const problem = check?.(args, outputs);
      if (problem !== undefined) {
        issues.add("operation-rule", at, `${name}: ${problem}`);
        return false;
      }
      since = latestVersion(since, sinceOf?.(args, outputs));
    } catch (error) {
      // Rules may refuse as kernels do. Any other error is a definition's that did not expect such operands.
      const problem = error instanceof OperationError ? error.message : `its rules cannot be applied: ${show(error)}`;
      issues.add("operation-rule", at, `${name}: ${problem}`);
      return false;
    }
  }
  if (since > version) requireVersion(context, since, "operation-version", at, `${name} with these operands`);
  return true;
}

function isKnown(info: OperandInfo | undefined): info is OperandInfo {
  return info !== undefined;
}
