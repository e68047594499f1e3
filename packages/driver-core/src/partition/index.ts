/**
 * @nnhal/driver-core/partition: which device runs which part of a model, and why.
 */
export { type AskAndPlanOptions, askAndPlan, whyUnsupported } from "./ask-and-plan.ts";
export { partsOf } from "./parts.ts";
export type { Candidate, Choice, ExecutionStep, IfStep, Plan, Step, Unplannable, WhileStep } from "./plan.ts";
export { androidPolicy, type CostModel, costPolicy, defaultCosts, type Policy } from "./policy.ts";
export type { AskedDevice, PlanOptions } from "./questions.ts";
export type { StepModel } from "./step-model.ts";
export { withoutTrailingDefaults } from "./trailing-defaults.ts";
