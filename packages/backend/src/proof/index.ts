/**
 * @nnhal/backend/proof: the self-check of an engine, which proves its forms of computations on the processor at hand. Programs that only use
 * devices do not load it.
 */
export { currentProcessor, type Processor } from "../processor.ts";
export {
  checkForms,
  choiceRefusal,
  chooseForm,
  type FormChoice,
  type FormFailures,
  type OutcomeStore,
  type Probe,
  type SelfCheck,
  type SelfCheckOptions,
  versionSuffix,
} from "../self-check.ts";
export type { ProbeCase } from "./float32-cases.ts";
export { type ProofOptions, proveEngine, type TableEngine } from "./prove-engine.ts";
export {
  type LoneRun,
  type ProbeArgument,
  type ProbeFollowing,
  type ProbeOperation,
  type ProbeTensor,
  runAlone,
} from "./run-alone.ts";
export {
  caseFailure,
  differenceOf,
  formsOfFunctions,
  formsOfKinds,
  type ProvenForm,
  type Verdict,
  verdictOf,
} from "./verdict.ts";
