/**
 * A plan whose parts have been prepared on their devices.
 */
import type { ExecutionStep, IfStep, Plan, WhileStep } from "@nnhal/driver-core/partition";
import type { GuardedDevice } from "../guard/device.ts";
import type { GuardedModel } from "../guard/prepared-model.ts";
import type { Uses } from "./device-role.ts";
import type { Place } from "./place.ts";
import type { Workspaces } from "./workspace.ts";

/** A step made ready. */
export type PreparedStep = PreparedExecution | PreparedIf | PreparedWhile;

/** Operations on a device, made ready. */
export interface PreparedExecution {
  readonly kind: "execution";
  readonly step: ExecutionStep;
  readonly device: GuardedDevice;
  readonly preparedModel: GuardedModel;
}

/** An interpreted IF, made ready. */
export interface PreparedIf {
  readonly kind: "if";
  readonly step: IfStep;
  readonly thenPlan: PreparedPlan;
  readonly elsePlan: PreparedPlan;
}

/** An interpreted WHILE, made ready. */
export interface PreparedWhile {
  readonly kind: "while";
  readonly step: WhileStep;
  readonly conditionPlan: PreparedPlan;
  readonly bodyPlan: PreparedPlan;
  /** The condition's verdict, then each result of the body twice: what one turn writes the next one reads. */
  readonly states: Workspaces;
}

/** A plan made ready. */
export interface PreparedPlan {
  readonly plan: Plan;
  readonly steps: readonly PreparedStep[];
  /** The steps' indexes by level: see `levelsOf`. */
  readonly levels: readonly (readonly number[])[];
  readonly uses: Uses;
  /** The operands that one step writes and another reads, in the order of a workspace's places. */
  readonly temporaries: readonly number[];
  readonly workspaces: Workspaces;
  /** Constants that interpreted steps hand to their subgraphs, by operand. */
  readonly constants: ReadonlyMap<number, Place>;
}
