/**
 * All mutations of models, in the order in which they run: those of Android's VTS with its names, then those of rules that
 * VTS does not touch.
 */
import { addOperationInput, addOperationOutput } from "./addition.ts";
import { modelInputOutputIndex, removeModelInput, removeModelOutput } from "./boundary.ts";
import { operandInputOutput, operandLifeTime, operandNumberOfConsumers, unknownLifeTime } from "./life-time.ts";
import { operandLocation } from "./location.ts";
import type { ModelMutation } from "./mutation.ts";
import { operandExtraParams, operandRank, operandScale, operandType, operandZeroPoint } from "./operand-facts.ts";
import { operationInputOperandIndex, operationOutputOperandIndex, operationType } from "./operation-facts.ts";
import { executionPreference, executionPriority } from "./options.ts";
import { executionOrder, operandAddWriter, operationRemoveWrite } from "./order.ts";
import { modelPool } from "./pools.ts";
import { removeOperand, removeOperation, removeOperationInput, removeOperationOutput } from "./removal.ts";
import { operationOperandType } from "./retype.ts";
import { emptyModel, subgraphCycle } from "./subgraphs.ts";

/** The 22 classes of VTS. */
export const vtsMutations: readonly ModelMutation[] = [
  executionOrder,
  operandType,
  operandRank,
  operandScale,
  operandZeroPoint,
  operandLifeTime,
  operandInputOutput,
  operandNumberOfConsumers,
  operandAddWriter,
  operationOperandType,
  operationType,
  operationInputOperandIndex,
  operationOutputOperandIndex,
  operationRemoveWrite,
  removeOperand,
  removeOperation,
  removeOperationInput,
  removeOperationOutput,
  addOperationInput,
  addOperationOutput,
  executionPreference,
  executionPriority,
];

/** Further rules on models. */
export const furtherMutations: readonly ModelMutation[] = [
  operandExtraParams,
  unknownLifeTime,
  operandLocation,
  modelPool,
  removeModelInput,
  removeModelOutput,
  modelInputOutputIndex,
  subgraphCycle,
  emptyModel,
];

/** All mutations of models. */
export const modelMutations: readonly ModelMutation[] = [...vtsMutations, ...furtherMutations];
