/**
 * @nnhal/conformance: the kit that proves that a driver behaves as the Neural Networks HAL says.
 */
export { type AccuracyOptions, runAccuracy } from "./accuracy/run.ts";
export { describeAllowance } from "./arithmetic/allowance-text.ts";
export { type ExtremeConvolutionsOptions, extremeConvolutions } from "./arithmetic/extreme.ts";
export { type ArithmeticOptions, arithmeticSize, defaultExampleCount, runArithmetic } from "./arithmetic/run.ts";
export type { Deviation } from "./deviation.ts";
export { defaultGraphCount, type GraphsOptions, type GraphWay, runGraphs } from "./graphs/run.ts";
export {
  type CaseStart,
  type IsolationOptions,
  type Losses,
  mostLostCases,
  mostLostOfSuite,
  noLosses,
  type OnProgress,
  type OnStart,
  runIsolated,
  type ServingOptions,
  serveResults,
} from "./isolated.ts";
export { type ModelRunner, modelRunner } from "./model-runner.ts";
export { type ModuleOptions, runModule } from "./module/run-module.ts";
// `runModule` imports serveModule by name in the process that it starts.
export { type ModuleRun, type OwnSuiteName, serveModule } from "./module/serve-module.ts";
export { modelMutations } from "./mutations/list.ts";
export type { ModelMutation, Mutant, MutantOptions } from "./mutations/mutation.ts";
export { type RequestMutant, type RequestMutation, requestMutations } from "./mutations/request.ts";
export { type MutationsOptions, mutationSubjects, runMutations } from "./mutations/run.ts";
export type { Need } from "./needs.ts";
export { listNetworks, type NetworksOptions, runNetworks } from "./networks/run.ts";
export { type RandomExamplesOptions, randomExamples } from "./random/examples.ts";
export { type RandomOptions, runRandomOperations } from "./random/suite.ts";
export {
  type CaseResult,
  type Counts,
  type Precision,
  type Suite,
  type Summary,
  summarise,
  type UnsupportedCause,
  type Verdict,
} from "./result.ts";
export type { StressJob, StressTally, StressWork } from "./stress/job.ts";
export { runStress, type StressOptions, stressSize } from "./stress/run.ts";
export { serveStressJob } from "./stress/serve.ts";
export { type Allowances, defaultAllowances } from "./suites/allowances.ts";
export type { BenchOptions } from "./suites/bench.ts";
export {
  type DeviceSuiteName,
  type DeviceSuiteOptions,
  describeDeviceSuite,
  deviceSuiteNames,
  isDeviceSuiteName,
  listDeviceCases,
  runDeviceSuites,
} from "./suites/run.ts";
export { type ConformanceTestsOptions, type DefineTest, defineConformanceTests } from "./tests.ts";
export {
  findTrainedExamples,
  type TrainedExample,
  type TrainedTensor,
  trainedOutputProblem,
} from "./trained-models.ts";
export type {
  Allowance,
  Example,
  ExampleOperand,
  ExampleOperation,
  ExampleSubgraph,
  LifeTimeName,
} from "./vectors/example.ts";
export { VectorFormatError } from "./vectors/fields.ts";
export { modelOf } from "./vectors/model.ts";
export { type ParseOptions, parseExample } from "./vectors/parse.ts";
export { type ExecutionPath, executionPaths } from "./vectors/path.ts";
export { findVectorFiles, readVectorFiles, type VectorFile } from "./vectors/read.ts";
export { matchesText, runVectors, type VectorsOptions } from "./vectors/run.ts";
export type { VectorCase } from "./vectors/variant.ts";
export { exampleLine } from "./vectors/write.ts";
export { deviceThrough, runMutationsThrough, runVectorsThrough } from "./versions.ts";
