/**
 * A plan whose parts have been prepared on their devices.
 */
import type { ExecutionStep, IfStep, Plan, WhileStep } from "@nnhal/driver-core/partition";
import type { GuardedDevice } from "../guard/device.ts";
import type { GuardedModel } from "../guard/prepared-model.ts";
import type { Uses } from "./device-role.ts";
import type { Place } from "./place.ts";
import type { Workspaces } from "./workspace.ts";

/** A prepared step. */
export type PreparedStep = PreparedExecution | PreparedIf | PreparedWhile;

/** A prepared step of operations on a device. */
export interface PreparedExecution {
  readonly kind: "execution";
  readonly step: ExecutionStep;
  readonly device: GuardedDevice;
  readonly preparedModel: GuardedModel;
}

/** A prepared step that is an interpreted IF. */
export interface PreparedIf {
  readonly kind: "if";
  readonly step: IfStep;
  readonly thenPlan: PreparedPlan;
  readonly elsePlan: PreparedPlan;
}

/** A prepared step that is an interpreted WHILE. */
export interface PreparedWhile {
  readonly kind: "while";
  readonly step: WhileStep;
  readonly conditionPlan: PreparedPlan;
  readonly bodyPlan: PreparedPlan;
  /** The value of the condition, then two places for each result of the body: an iteration reads what the previous one wrote. */
  readonly states: Workspaces;
}

/** A prepared plan. */
export interface PreparedPlan {
  readonly plan: Plan;
  readonly steps: readonly PreparedStep[];
  /** The steps' indexes by level: see `levelsOf`. */
  readonly levels: readonly (readonly number[])[];
  readonly uses: Uses;
  /** The operands that one step writes and another reads, in the order of a workspace's places. */
  readonly temporaries: readonly number[];
  readonly workspaces: Workspaces;
  /** Constants that interpreted steps pass to their subgraphs, by operand. */
  readonly constants: ReadonlyMap<number, Place>;
}
