/**
 * @nnhal/conformance: the kit that proves that a driver behaves as the Neural Networks HAL says.
 */
export { systemTimer, type Timer } from "./attempt.ts";
export * from "./isolated.ts";
export * from "./model-runner.ts";
export { furtherMutations, modelMutations, vtsMutations } from "./mutations/list.ts";
export type { ModelMutation, Mutant, MutantOptions } from "./mutations/mutation.ts";
export { type RequestMutant, type RequestMutation, requestMutations } from "./mutations/request.ts";
export { type MutationsOptions, mutationSubjects, runMutations } from "./mutations/run.ts";
export { type RandomExamplesOptions, randomExamples } from "./random/examples.ts";
export { type RandomOptions, type RandomTally, runRandomOperations } from "./random/suite.ts";
export * from "./result.ts";
export { type Allowances, defaultAllowances } from "./suites/allowances.ts";
export type { Need } from "./suites/needs.ts";
export {
  type DeviceSuiteName,
  type DeviceSuiteOptions,
  describeDeviceSuite,
  deviceSuiteNames,
  isDeviceSuiteName,
  listDeviceCases,
  runDeviceSuites,
} from "./suites/run.ts";
export { type ConformanceTestsOptions, type DefineTest, defineConformanceTests } from "./suites/tests.ts";
export * from "./trained-models.ts";
export * from "./vectors/example.ts";
export { VectorFormatError } from "./vectors/fields.ts";
export { modelOf } from "./vectors/model.ts";
export { type ParseOptions, parseExample } from "./vectors/parse.ts";
export { type ExecutionPath, executionPaths } from "./vectors/path.ts";
export { findVectorFiles, readVectorFile, readVectorFiles, type VectorFile } from "./vectors/read.ts";
export { requestOf, type VectorRequest } from "./vectors/request.ts";
export { matchesText, runVectors, type VectorsOptions } from "./vectors/run.ts";
export { subjectOf } from "./vectors/subject.ts";
export { type Tolerance, toleranceOf, tolerances } from "./vectors/tolerance.ts";
export { casesOf, toSigned, type VectorCase } from "./vectors/variant.ts";
export { deviceThrough, runVectorsThrough } from "./versions.ts";
