/**
 * The result of partitioning. A plan says which device runs which operations of a model, in which steps, and why. It is
 * immutable and references no device, so that it can be printed, compared and tested.
 */
import type { Extension, Model } from "@nnhal/types";

/** A model divided into steps. */
export interface Plan {
  /** The planned model: the given one without trailing inputs that have their default values. */
  readonly model: Model;
  /** Names of the available devices, by index. */
  readonly devices: readonly string[];
  /** The extensions that the model uses, as the devices describe them: the sizes of their types. */
  readonly extensions: readonly Extension[];
  /** The decision for each operation of the main subgraph. */
  readonly choices: readonly Choice[];
  /** In an order in which they can run. One execution step of the whole model if one device runs all of it. */
  readonly steps: readonly Step[];
  /** The sum of the steps' predicted times. */
  readonly predictedTime: number;
}

/** The choice of a device for an operation. */
export interface Choice {
  /** Index of the device; undefined if the runtime interprets the IF or WHILE. */
  readonly device: number | undefined;
  /** The reason for the choice, as text. */
  readonly reason: string;
  /** By device, its answer about the operation. */
  readonly candidates: readonly Candidate[];
}

/** The answer of one device about one operation. */
export type Candidate =
  | {
      readonly supported: true;
      /** Relative to the CPU, lower is better; Infinity if the device declares none for the type. */
      readonly performance: number;
      /** Predicted time of the operation itself in nanoseconds, by the cost model of the policy. */
      readonly predictedTime: number;
    }
  | { readonly supported: false; readonly reason: string };

/** A part of a plan. */
export type Step = ExecutionStep | IfStep | WhileStep;

/** The common part of all steps. */
interface AnyStep {
  /**
   * Predicted time of one execution in nanoseconds, by the cost model of the policy; for comparison only. It is the sum of the
   * step's start, its reads from other devices and its operations. An IF counts the mean of its branches; a WHILE one turn.
   * With preference LOW_POWER, it is power by the same model.
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
  /** The model that the device prepares. */
  readonly model: Model;
  /** For each input of the step's model the operand of the planned model: model inputs, temporaries, model outputs. */
  readonly inputs: readonly number[];
  /** For each output of the step's model the operand of the planned model: model outputs, then temporaries. */
  readonly outputs: readonly number[];
}

/** An IF that the runtime interprets: it reads the condition and runs one of two plans. */
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
  /** BAD_DATA: no device supports an operation. OP_FAILED: it could only be divided at operands of unknown size. */
  readonly unplannable: "BAD_DATA" | "OP_FAILED";
  readonly message: string;
  /** The operation that no device supports, such as `main.operations[3]`, and why. */
  readonly places?: readonly { readonly path: string; readonly message: string }[];
}
