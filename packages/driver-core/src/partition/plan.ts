/**
 * What partitioning gives: a plan says which device runs which operations of a model, in which steps, and why. It is
 * immutable and holds no device, so that it can be printed, compared and tested.
 */
import type { Model } from "@nnhal/types";

/** A model divided into steps. */
export interface Plan {
  /** The model that was planned: as it was given, but for trailing inputs that have their default values. */
  readonly model: Model;
  /** Names of the devices that were offered, by index. */
  readonly devices: readonly string[];
  /** What was decided for each operation of the main subgraph. */
  readonly choices: readonly Choice[];
  /** In an order in which they can run. One execution step of the whole model where one device takes it all. */
  readonly steps: readonly Step[];
  /** Sum over the steps; see there. */
  readonly predictedTime: number;
}

/** Why an operation runs where it runs. */
export interface Choice {
  /** Index of the device, or undefined where the runtime interprets an IF or WHILE. */
  readonly device: number | undefined;
  /** What the decision rests on, in words. */
  readonly reason: string;
  /** By device: what it said of the operation. */
  readonly candidates: readonly Candidate[];
}

/** What one device said of one operation. */
export type Candidate =
  | {
      readonly supported: true;
      /** Relative to the CPU, lower is better; Infinity where the device names none for the type. */
      readonly performance: number;
      /** Predicted time of the operation itself in nanoseconds, by the cost model of the policy. */
      readonly predictedTime: number;
    }
  | { readonly supported: false; readonly reason: string };

/** A part of a plan. */
export type Step = ExecutionStep | IfStep | WhileStep;

/** What all steps have. */
interface AnyStep {
  /**
   * Predicted time of one execution in nanoseconds, by the cost model of the policy; for comparison only. It is the start
   * of the step, what it reads from other devices, and its operations. An IF counts the mean of its branches; a WHILE one
   * turn. Where LOW_POWER is preferred, it is power by the same model.
   */
  readonly predictedTime: number;
}

/** Operations that run together on one device. */
export interface ExecutionStep extends AnyStep {
  readonly kind: "execution";
  /** Index of the device. */
  readonly device: number;
  /** Indexes of the operations in the planned model, in execution order. */
  readonly operations: readonly number[];
  /** What the device prepares. */
  readonly model: Model;
  /** For each input of the step's model the operand of the planned model: model inputs, temporaries, model outputs. */
  readonly inputs: readonly number[];
  /** For each output of the step's model the operand of the planned model: model outputs, then temporaries. */
  readonly outputs: readonly number[];
}

/** An IF that the runtime interprets: it looks at the condition and runs one of two plans. */
export interface IfStep extends AnyStep {
  readonly kind: "if";
  readonly operation: number;
  readonly condition: number;
  readonly thenPlan: Plan;
  readonly elsePlan: Plan;
  /** Operands of the planned model that are the branch's inputs and outputs, in order. */
  readonly inputs: readonly number[];
  readonly outputs: readonly number[];
}

/** A WHILE that the runtime interprets. */
export interface WhileStep extends AnyStep {
  readonly kind: "while";
  readonly operation: number;
  readonly conditionPlan: Plan;
  readonly bodyPlan: Plan;
  readonly inputs: readonly number[];
  readonly outputs: readonly number[];
}

/** Why a model cannot be planned. */
export interface Unplannable {
  /** BAD_DATA: no device takes an operation. OP_FAILED: it could only be divided where sizes are not known. */
  readonly unplannable: "BAD_DATA" | "OP_FAILED";
  readonly message: string;
}
