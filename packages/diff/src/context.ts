/** Everything that the steps of a comparison share: the model's parts, its types, and how parts are prepared. */
import { partsOf, type StepModel } from "@nnhal/driver-core/partition";
import {
  describeExtension,
  type ExtensionDefinition,
  elementAt,
  factsByCode,
  isTensorType,
  operationText,
  splitExtensionCode,
  vocabularyOf,
} from "@nnhal/operations";
import { type Model, OperandLifeTime, OperationType } from "@nnhal/types";
import { constantBytes } from "@nnhal/utils";
import type { Allowance, Compared, JudgedOperand } from "./allowance.ts";
import { sizesOf } from "./difference.ts";
import { type Engine, type PreparedPart, preparePart } from "./prepared-part.ts";
import type { RecordedValues } from "./recorded.ts";
import { type SideValues, valuesOf } from "./values.ts";

/** The side that is right: devices, or values that something else has computed. */
export type Judge = Engine | RecordedValues;

/** The side that is judged: devices in planning order, and the device that computes what they do not take. */
export type Suspect = Engine;

/** The common ground of all steps of a comparison. */
export interface DiffContext {
  readonly model: Model;
  readonly judge: Judge;
  readonly suspect: Suspect;
  readonly allowance: Allowance;
  /** The part of the model that some operations are. */
  readonly partOf: (operations: readonly number[]) => StepModel;
  /** The type of an operand as it is compared; undefined: it is not known. */
  readonly comparedAs: (operand: number) => Compared | undefined;
  /** The sizes of the elements of a constant; undefined: the operand is none, or its type is not known. */
  readonly constantOf: (operand: number) => JudgedOperand | undefined;
  readonly nameOf: (operation: number) => string;
  /** True if results are drawn at random, so that no two runs agree. */
  readonly isDrawn: (operation: number) => boolean;
  readonly prepare: (part: Model, engine: Engine) => Promise<PreparedPart>;
}

/** Returns how each operand of the main subgraph is compared; undefined: its type is not known. */
export function comparedTypesOf(
  { main, extensionNameToPrefix: prefixes, relaxComputationFloat32toFloat16: isRelaxed }: Model,
  extensions: readonly ExtensionDefinition[],
): (operand: number) => Compared | undefined {
  const vocabulary = vocabularyOf(prefixes, { extensions });
  return (operand) => {
    const { type: code, scale, zeroPoint } = elementAt(main.operands, operand);
    const type = vocabulary.operandTypeByCode(code);
    return type && { type, scale: isTensorType(type) ? scale : 0, zeroPoint, isRelaxed };
  };
}

/** Makes the context of a comparison. */
export async function createContext(
  model: Model,
  given: Pick<DiffContext, "judge" | "suspect" | "allowance"> & { readonly extensions: readonly ExtensionDefinition[] },
): Promise<DiffContext> {
  const { extensions, ...rest } = given;
  const { main, referenced, extensionNameToPrefix: prefixes } = model;
  const vocabulary = vocabularyOf(prefixes, { extensions });
  const described = extensions.map(describeExtension);
  const factsOf = factsByCode(prefixes, described);
  const draws = (type: number) =>
    type === OperationType.RANDOM_MULTINOMIAL ||
    (splitExtensionCode(type).prefix > 0 && vocabulary.operationByCode(type)?.random === true);
  const drawsInside = referenced.some(({ operations }) => operations.some(({ type }) => draws(type)));
  const isRelaxed = model.relaxComputationFloat32toFloat16 || given.suspect.way?.isRelaxed === true;
  const comparedAs = comparedTypesOf({ ...model, relaxComputationFloat32toFloat16: isRelaxed }, extensions);
  return {
    ...rest,
    model,
    partOf: await partsOf(model),
    comparedAs,
    constantOf: (operand) => {
      const { dimensions } = elementAt(main.operands, operand);
      const [as, bytes] = [comparedAs(operand), constantBytes(elementAt(main.operands, operand), model)];
      return as && bytes && sizesOf(as, { bytes, dimensions });
    },
    nameOf: (operation) => operationText(elementAt(main.operations, operation).type, prefixes, vocabulary),
    isDrawn: (operation) => {
      const { type, inputs } = elementAt(main.operations, operation);
      const calls = inputs.some((input) => elementAt(main.operands, input).lifetime === OperandLifeTime.SUBGRAPH);
      return draws(type) || (calls && drawsInside);
    },
    prepare: (part, engine) => preparePart(part, engine, described, factsOf),
  };
}

/** Computes a part of the model on the values of each run, and puts results there that are not known yet. Rejects with a NeuralNetworksError. */
export async function computePart(
  { prepare }: DiffContext,
  engine: Engine,
  part: StepModel,
  sides: readonly SideValues[],
): Promise<void> {
  const prepared = await prepare(part.model, engine);
  try {
    for (const side of sides) {
      const results = await prepared.run(valuesOf(side, part.inputs));
      for (const [place, operand] of part.outputs.entries())
        if (!side.has(operand)) side.set(operand, elementAt(results, place));
    }
  } finally {
    prepared.close();
  }
}
