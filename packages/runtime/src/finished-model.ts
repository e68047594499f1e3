/**
 * FinishedModel: a valid model, which cannot be changed (NNAPI: ANeuralNetworksModel after its finish). A bundle of an application that
 * builds none by hand leaves the construction of models out.
 */
import type { OptionNames } from "@nnhal/operations";
import { type Device, type Extension, type Model as HalModel, OperandType, OperationType } from "@nnhal/types";
import { defaultLogger, inSection, type Logger, noTracer, type Tracer } from "@nnhal/utils";
import { extensionIssues, sealModel } from "@nnhal/validation";
import { logGraph } from "#log-graph";
import { type ModelExtensions, modelExtensions } from "./extensions.ts";
import { describe, expectGiven, expectKind, expectList, optionsOf } from "./given.ts";
import { devicesGiven } from "./given-devices.ts";
import type { OperandFacts } from "./operand-facts.ts";
import { expect, NeuralNetworksError, ResultCode } from "./result-code.ts";
import { findSupported } from "./supported-operations.ts";

/** The extensions of a model, and the observers of the model, its compilations and executions. */
export interface ModelOptions {
  /** The extensions whose operand types the model uses, such as those of `registerDevices`. Default: none. */
  readonly extensions?: readonly Extension[] | undefined;
  /** Receives log messages (tags MODEL, COMPILATION and EXECUTION). Default: the console, for the tags that NNHAL_VLOG names. */
  readonly log?: Logger | undefined;
  /** Default: off. */
  readonly trace?: Tracer | undefined;
}

const modelOptions: OptionNames<ModelOptions> = {
  extensions: true,
  log: true,
  trace: true,
};

/** Options of a model with their defaults. */
export interface CheckedModelOptions {
  readonly extensions: readonly Extension[];
  readonly log: Logger;
  readonly trace: Tracer;
}

/** See the file's head. `FinishedModel.from` makes one of a model in the HAL's form, `Model` one by hand. */
export class FinishedModel {
  /** The model in the HAL's form. */
  readonly hal: HalModel;
  /** For the compilations of this package. */
  readonly log: Logger;
  readonly trace: Tracer;
  readonly #extensions: ModelExtensions;

  /** For this package. Throws BAD_DATA with every rule that is broken. */
  constructor(model: HalModel, { extensions, log, trace }: CheckedModelOptions) {
    this.hal = seal(model);
    this.log = log;
    this.trace = trace;
    this.#extensions = modelExtensions(extensions, this.hal.extensionNameToPrefix);
    logFinished(this.hal, log);
  }

  /**
   * Makes one of a model in the HAL's form, such as an importer returns. It is copied, except for the bytes of its constants, which must
   * not change while the model lives. Throws a NeuralNetworksError: BAD_DATA if it is not valid. `what`: the call, for messages.
   */
  static from(model: HalModel, options: ModelOptions = {}, what = "FinishedModel.from"): FinishedModel {
    expectHal(model, what);
    const checked = checkModelOptions(options);
    return inSection(checked.trace, "LR", "PP", what, () => new FinishedModel(model, checked));
  }

  get isFinished(): boolean {
    return true;
  }

  /**
   * Which operations at least one of some devices takes. `explain` of the command line tells why not. Rejects with BAD_DATA for no devices
   * and for one that is listed twice.
   */
  async getSupportedOperationsForDevices(devices: readonly Device[]): Promise<boolean[]> {
    const what = "getSupportedOperationsForDevices";
    const { devices: given } = devicesGiven(devices, undefined, what);
    expect(given.length > 0, ResultCode.BAD_DATA, () => `${what}: there are no devices`);
    return findSupported(this.hal, given, this.log);
  }

  /** For this package: the facts of an operand type; undefined for an unknown one. */
  factsOf(type: number): OperandFacts | undefined {
    return this.#extensions.factsOf(type);
  }
}

/** Checks the options of a model. */
export function checkModelOptions(options: ModelOptions): CheckedModelOptions {
  const what = "Model";
  const { extensions = [], log = defaultLogger, trace = noTracer } = optionsOf(options, what, modelOptions);
  expectList(extensions, what, "extensions");
  const [issue] = extensionIssues(extensions);
  expect(issue === undefined, ResultCode.BAD_DATA, () => `${what}: ${issue?.path}: ${issue?.message}`);
  expectKind(log, "Logger", what, "log");
  expectKind(trace, "Tracer", what, "trace");
  log.initVLogMask();
  return { extensions, log, trace };
}

function expectHal(model: HalModel, what: string): void {
  expectGiven(model, what, "model");
  const isHal = typeof model === "object" && "main" in model;
  expect(isHal, ResultCode.BAD_DATA, () => `${what}: model is ${describe(model)}, not a model in the HAL's form`);
}

function logFinished(model: HalModel, log: Logger): void {
  const oem = oemNames(model);
  if (oem.length > 0) log.warning(`the model uses ${oem.join(" and ")}, deprecated since HAL 1.2: use an extension`);
  if (log.VLOG_IS_ON("MODEL")) logGraph("a finished model", model, log, "MODEL");
}

/** The OEM types and the OEM operation that a model uses. */
function oemNames({ main, referenced }: HalModel): string[] {
  const subgraphs = [main, ...referenced];
  const uses = (type: number) => subgraphs.some(({ operands }) => operands.some((operand) => operand.type === type));
  const { OEM, TENSOR_OEM_BYTE } = OperandType;
  const { OEM_OPERATION } = OperationType;
  return [
    ...(uses(OEM) ? ["OEM"] : []),
    ...(uses(TENSOR_OEM_BYTE) ? ["TENSOR_OEM_BYTE"] : []),
    ...(subgraphs.some(({ operations }) => operations.some(({ type }) => type === OEM_OPERATION))
      ? ["OEM_OPERATION"]
      : []),
  ];
}

/** The copy of a model that devices get. It is validated here, and not again by devices in this process. */
function seal(model: HalModel): HalModel {
  const result = sealModel(model);
  if ("model" in result) return result.model;
  const lines = result.issues.map(({ path, message }) => `${path}: ${message}`);
  throw new NeuralNetworksError(ResultCode.BAD_DATA, `the model is not valid: ${lines.join("; ")}`, result.issues);
}
