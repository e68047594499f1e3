/**
 * The explanation of a model: each device's answer about each operation, the device of each operation, and the steps.
 */

import type { Plan, Step } from "@nnhal/driver-core/partition";
import { nameOperations } from "@nnhal/network/session";
import {
  elementAt,
  type FactsByCode,
  factsByCode,
  operandTypeText,
  operationText,
  type VendorDefinitions,
  type Vocabulary,
  vocabularyOf,
} from "@nnhal/operations";
import { planMemory } from "@nnhal/runtime";
import type { OperatorReport, TfliteInspection, TfliteProblem } from "@nnhal/tflite";
import { type Device, ErrorStatus, type HalVersion, type Model, type Operand, OperandLifeTime } from "@nnhal/types";
import { extensionDataText } from "@nnhal/utils/graph";
import type { ShownNames } from "../model/load-hal.ts";
import { formatCount } from "../text.ts";

/** Answer of a device about an operation. */
export interface DeviceAnswer {
  readonly supported: boolean;
  /** Why not. */
  readonly reason?: string;
}

/** An operand of an operation. */
export interface ExplainedOperand {
  /** Its index in the subgraph. */
  readonly operand: number;
  /** The name of its tensor in the file, if that is known. */
  readonly name?: string;
  /** The HAL's type, or an extension's, such as `com.example.fibonacci INT64`. */
  readonly type: string;
  /** 0 is an extent that is not known. */
  readonly shape: readonly number[];
  /** The extension data of an operand of an extension's type: decoded, or in hex. */
  readonly extensionData?: string;
}

/** An operation. */
export interface ExplainedOperation {
  readonly index: number;
  readonly type: string;
  /** By the name of the device. */
  readonly devices: Readonly<Record<string, DeviceAnswer>>;
  /** null if the runtime interprets it, or if there is no plan. */
  readonly device: string | null;
  /** null if there is no plan. */
  readonly step: number | null;
  /** Why it goes there. */
  readonly reason?: string;
  /** Omitted operands have the shape [] and the type of the parameter. */
  readonly inputs: readonly ExplainedOperand[];
  readonly outputs: readonly ExplainedOperand[];
  /** In a step of its own. */
  readonly measuredMs?: number;
}

/** A tensor that crosses the border of a step. */
export interface BoundaryTensor extends ExplainedOperand {
  readonly bytes: number;
}

/** A step. */
export interface ExplainedStep {
  /** null if the runtime interprets it. */
  readonly device: string | null;
  readonly operations: readonly number[];
  readonly inputBytes: number;
  readonly outputBytes: number;
  readonly predictedMs: number;
  readonly measuredMs?: number;
  readonly inputs: readonly BoundaryTensor[];
  readonly outputs: readonly BoundaryTensor[];
  /** The plans inside an IF or WHILE that the runtime interprets: then and else, or condition and body. */
  readonly inside?: readonly InnerPlan[];
}

/** A plan inside control flow. */
export interface InnerPlan extends ExplainedPlan {
  readonly part: "then" | "else" | "condition" | "body";
  /** The index of its subgraph among the model's referenced ones. */
  readonly subgraph: number;
}

/** A model or subgraph. */
export interface ExplainedPlan {
  readonly operations: readonly ExplainedOperation[];
  readonly steps: readonly ExplainedStep[];
}

/** A whole explanation. */
export interface Explanation extends ExplainedPlan {
  readonly model: string;
  /** `cost` or `android`. */
  readonly policy: string;
  readonly preference: string;
  /** All that were asked, in planning order. */
  readonly devices: readonly string[];
  /** By the name of the device. */
  readonly halVersions: Readonly<Record<string, HalVersion>>;
  /** The oldest HAL version that the model fits; absent if the file cannot become a HAL model. */
  readonly minimumVersion?: HalVersion;
  /** Why there is no plan. */
  readonly problem?: string;
  /** Present if the file cannot become a HAL model: its operators and what becomes of them. */
  readonly fileOperators?: readonly OperatorReport[];
  /** Present if the file cannot become a HAL model: the reasons, at most 100. */
  readonly problems?: readonly TfliteProblem[];
  readonly predictedMs?: number;
  /** Median of some executions. */
  readonly measuredMs?: number;
  /** Bytes of the values between steps, and the least that any layout could have. */
  readonly memory?: { readonly peak: number; readonly lowerBound: number };
}

/** Milliseconds that were measured. */
export interface Measured {
  readonly total: number;
  readonly steps: ReadonlyMap<Step, number>;
  /** By operation of the main subgraph. */
  readonly operations: readonly (number | undefined)[];
}

/** Values of an explanation besides the plan. */
export interface ExplainOptions extends Partial<ShownNames> {
  /** Those by which types, operations and data of vendors are named. Default: none. */
  readonly definitions?: VendorDefinitions;
}

/** Explains a plan. `devices`: all that were asked. */
export async function explainPlan(
  plan: Plan,
  devices: readonly Device[],
  measured?: Measured,
  { definitions = {}, operandNames = [], referencedNames = [] }: ExplainOptions = {},
): Promise<ExplainedPlan & Pick<Explanation, "predictedMs" | "measuredMs" | "memory">> {
  const asked = plansIn(plan).map(async ({ model }) => [model, await answersOf(model, devices, definitions)] as const);
  const answers = new Map(await Promise.all(asked));
  return {
    ...explainSubgraph(plan, { answers, measured, definitions, referencedNames }, operandNames, measured?.operations),
    predictedMs: milliseconds(plan.predictedTime),
    ...(measured && { measuredMs: measured.total }),
    memory: planMemory(plan),
  };
}

/** Explains a model that has no plan, with the devices' answers. */
export async function explainAnswers(
  model: Model,
  devices: readonly Device[],
  { definitions = {}, operandNames = [] }: ExplainOptions = {},
): Promise<ExplainedPlan> {
  const answers = await answersOf(model, devices, definitions);
  const vocabulary = vocabularyOf(model.extensionNameToPrefix, definitions);
  const operations = model.main.operations.map((_, index) => ({
    ...describeOperation({ model, names: operandNames, vocabulary }, index, answers),
    device: null,
    step: null,
  }));
  return { operations, steps: [] };
}

/** Explains a file that cannot become a HAL model. */
export function explainFile({
  operators,
  problems,
  problemCount,
}: TfliteInspection): ExplainedPlan & Pick<Explanation, "problem" | "fileOperators" | "problems"> {
  const problem = `the file cannot become a HAL model: ${formatCount(problemCount, "problem")}`;
  return { operations: [], steps: [], problem, fileOperators: operators, problems };
}

/** A subgraph as the main one of a model, with the names of its operands. */
interface Described {
  readonly model: Model;
  readonly names: readonly (string | undefined)[];
  readonly vocabulary: Vocabulary;
}

/** Values that all parts of an explanation share. */
interface Explaining extends Pick<ShownNames, "referencedNames"> {
  /** By the model of each plan in the plan. */
  readonly answers: ReadonlyMap<Model, Answers>;
  readonly measured: Measured | undefined;
  readonly definitions: VendorDefinitions;
}

/** A plan and those inside its steps. */
function plansIn(plan: Plan): readonly Plan[] {
  const inside = plan.steps.flatMap((step) => {
    if (step.kind === "execution") return [];
    return step.kind === "if" ? [step.thenPlan, step.elsePlan] : [step.conditionPlan, step.bodyPlan];
  });
  return [plan, ...inside.flatMap(plansIn)];
}

function explainSubgraph(
  plan: Plan,
  explaining: Explaining,
  names: readonly (string | undefined)[],
  ofOperations: readonly (number | undefined)[] = [],
): ExplainedPlan {
  const { model, steps, choices } = plan;
  const answers = explaining.answers.get(model) ?? [];
  const described = {
    ...{ model, names },
    vocabulary: vocabularyOf(model.extensionNameToPrefix, explaining.definitions),
  };
  const stepOf: number[] = [];
  steps.forEach((step, place) => {
    for (const operation of operationsOf(step)) stepOf[operation] = place;
  });
  const operations = choices.map(({ device, reason }, index): ExplainedOperation => {
    const time = ofOperations[index];
    return {
      ...describeOperation(described, index, answers),
      device: device === undefined ? null : elementAt(plan.devices, device),
      step: elementAt(stepOf, index),
      reason,
      ...(time !== undefined && { measuredMs: time }),
    };
  });
  return { operations, steps: steps.map((step) => explainStep(step, plan, explaining, described)) };
}

function explainStep(
  step: Step,
  { model, devices: names, extensions }: Plan,
  explaining: Explaining,
  described: Described,
): ExplainedStep {
  const factsOf = factsByCode(model.extensionNameToPrefix, extensions);
  const boundaryTensor = (operand: number): BoundaryTensor => ({
    ...describeOperand(described, operand),
    bytes: byteSize(elementAt(model.main.operands, operand), factsOf),
  });
  const reads = step.kind === "if" ? [step.condition, ...step.inputs] : step.inputs;
  const inputs = reads.map(boundaryTensor);
  const outputs = step.outputs.map(boundaryTensor);
  const time = explaining.measured?.steps.get(step);
  const inner = (operation: number, input: number, part: InnerPlan["part"], plan: Plan): InnerPlan => {
    const { inputs } = elementAt(model.main.operations, operation);
    const { location } = elementAt(model.main.operands, elementAt(inputs, input));
    const names = explaining.referencedNames[location.offset] ?? [];
    return { part, subgraph: location.offset, ...explainSubgraph(plan, explaining, names) };
  };
  return {
    device: step.kind === "execution" ? elementAt(names, step.device) : null,
    operations: operationsOf(step),
    inputBytes: sum(inputs),
    outputBytes: sum(outputs),
    predictedMs: milliseconds(step.predictedTime),
    ...(time !== undefined && { measuredMs: time }),
    inputs,
    outputs,
    ...(step.kind === "if" && {
      inside: [inner(step.operation, 1, "then", step.thenPlan), inner(step.operation, 2, "else", step.elsePlan)],
    }),
    ...(step.kind === "while" && {
      inside: [
        inner(step.operation, 0, "condition", step.conditionPlan),
        inner(step.operation, 1, "body", step.bodyPlan),
      ],
    }),
  };
}

function operationsOf(step: Step): readonly number[] {
  return step.kind === "execution" ? step.operations : [step.operation];
}

/** By operation, by the name of a device. */
type Answers = readonly Readonly<Record<string, DeviceAnswer>>[];

async function answersOf(
  model: Model,
  devices: readonly Device[],
  { extensions = [] }: VendorDefinitions,
): Promise<Answers> {
  const all = await Promise.all(
    devices.map(async (device) => ({ device, answer: await device.getSupportedOperations(model) })),
  );
  return model.main.operations.map((_, index) =>
    Object.fromEntries(
      all.map(({ device: { name }, answer: { status, message, supported, reasons } }): [string, DeviceAnswer] => {
        if (status === ErrorStatus.NONE && supported[index]) return [name, { supported: true }];
        const reason = nameOperations(reasons[index] ?? message ?? "no reason given", extensions);
        return [name, { supported: false, reason }];
      }),
    ),
  );
}

function describeOperation(described: Described, index: number, answers: Answers) {
  const { model, vocabulary } = described;
  const { type, inputs, outputs } = elementAt(model.main.operations, index);
  return {
    index,
    type: operationText(type, model.extensionNameToPrefix, vocabulary),
    devices: elementAt(answers, index),
    inputs: inputs.map((operand) => describeOperand(described, operand)),
    outputs: outputs.map((operand) => describeOperand(described, operand)),
  };
}

function describeOperand(
  { model: { main, extensionNameToPrefix }, names, vocabulary }: Described,
  index: number,
): ExplainedOperand {
  const name = names[index];
  const operand = elementAt(main.operands, index);
  const extensionData = extensionDataText(operand, vocabulary);
  return {
    operand: index,
    ...(name !== undefined && { name }),
    type: operandTypeText(operand.type, extensionNameToPrefix, vocabulary),
    shape: operand.dimensions,
    ...(extensionData !== undefined && { extensionData }),
  };
}

/** Bytes of an operand; 0 if they are not known. */
function byteSize({ type, dimensions, lifetime }: Operand, factsOf: FactsByCode): number {
  const facts = factsOf(type);
  if (facts === undefined || lifetime === OperandLifeTime.NO_VALUE) return 0;
  const { elementSize, kind } = facts;
  if (kind === "tensor" && dimensions.length === 0) return 0;
  return dimensions.reduce((size, extent) => size * extent, elementSize);
}

function sum(tensors: readonly BoundaryTensor[]): number {
  return tensors.reduce((total, { bytes }) => total + bytes, 0);
}

function milliseconds(nanoseconds: number): number {
  return nanoseconds / 1e6;
}
