/**
 * The surroundings of a case: the device, as a driver of every HAL version that it has, and models that it supports.
 * The objects of a case are closed when it ends.
 */

import type { OpenedDevice } from "@nnhal/driver-core/device";
import { allocateMemory } from "@nnhal/driver-core/memory";
import { type AnyIDevice, asVersion, type Drivers, driversIn, liftDevice } from "@nnhal/driver-core/versions";
import {
  type AidlVersion,
  aidlVersions,
  canonicalHalVersion,
  type Device,
  ErrorStatus,
  type ExecuteOptions,
  type ExecutionResult,
  type HidlVersion,
  isAidl,
  type Memory,
  type Model,
  type PreparedModel,
  type PrepareOptions,
  type Request,
} from "@nnhal/types";
import type { AIDL1 } from "@nnhal/types/aidl";
import { steadyClock } from "@nnhal/utils/time";
import { systemTimer, type Timer } from "../attempt.ts";
import { elementTypes, endAsUnsupported, type Need } from "../needs.ts";
import { reasonAgainst } from "../support.ts";
import { type Allowances, defaultAllowances } from "./allowances.ts";
import { expectStatus, mismatch, statusName } from "./check.ts";
import { createWatch, type Watch } from "./contract/watch.ts";
import { watchDevice } from "./contract/watched-device.ts";
import { watchDriver } from "./contract/watched-driver.ts";
import { buildSmallModel, type SmallModel, type SmallModelFacts, smallOperations } from "./small-models.ts";

/** The device under test, and how it is called. */
export interface BenchOptions {
  /**
   * The HAL version through whose methods the device is driven: as a driver of that version, lifted again. Default: the
   * device is driven as it is.
   */
  readonly version?: HidlVersion | undefined;
  /**
   * The driver itself, if the device is a lift of one: cases of launches call it. Default: a driver made of the device.
   */
  readonly driver?: AnyIDevice | undefined;
  /** The driver of AIDL, which the suite `aidl` calls. Default: one of AIDL 4 that is made of the device. */
  readonly aidl?: AIDL1.IDevice | undefined;
  /** Nanoseconds of the clock that the device's deadlines are on. Default: the process's steady clock. */
  readonly now?: (() => bigint) | undefined;
  /** Milliseconds that one call, or one wait for a callback or a packet, may take. Default 10 000. */
  readonly callLimit?: number | undefined;
  /** Allowed excess of the device over the limits of a case. Default: `defaultAllowances`. */
  readonly allowances?: Partial<Allowances> | undefined;
  /** The timer of all limits. Default: the system's timer. */
  readonly timer?: Timer | undefined;
}

/** The device itself, and facts that the first case that needs them has found out about it. */
export interface OwnDevice {
  readonly device: Device;
  /** The optional methods that its prepared models have. */
  methods?: Pick<PreparedModel, OptionalMethod>;
  /** By the first way to execute that is asked for: the others do the same work. */
  longWork?: LongWork;
}

/** Work that takes long: how many rows of a tensor, and how many milliseconds. */
export interface LongWork {
  readonly rows: number;
  readonly milliseconds: number;
}

/** A method that a prepared model need not have. */
export type OptionalMethod = "executeFenced" | "configureExecutionBurst" | "createReusableExecution";

/** A way to execute: by a call that returns the result, or by a launch and a callback. */
export interface Way {
  readonly name: "execute" | "launch" | "executeFenced";
  readonly device: Device;
}

/** A driver of AIDL, and its version. */
export interface AidlDriver {
  readonly version: AidlVersion;
  readonly device: AIDL1.IDevice;
}

/** See the file's head. */
export interface Bench {
  readonly device: Device;
  /** The same device, not driven through a HAL version. */
  readonly own: OwnDevice;
  /** The HAL version that the device is driven through. */
  readonly version: HidlVersion;
  readonly drivers: Drivers;
  /** The device as a driver of AIDL; undefined if it is driven through a version of HIDL. */
  readonly aidl: AidlDriver | undefined;
  /** The same device, with executions that are launched and end in a callback. */
  readonly launching: Device;
  /** Connects another client; undefined if the device has only one. */
  readonly connect: (() => AnotherClient) | undefined;
  readonly watch: Watch;
  readonly allowances: Allowances;
  now(): bigint;
  /** Memory that the device sees, for pools and queues. */
  createMemory(size: number): Memory;
  /** Registers an action for the end of the case. */
  after(action: () => unknown): void;
  /** Records a measurement of the case. */
  tell(measured: string): void;
}

/** Members that all cases of a run share. */
export type SetUp = Omit<Bench, "after" | "tell">;

/** Another client of the device. */
export interface AnotherClient {
  readonly setUp: SetUp;
  /** Closes the client and all its objects. */
  close(): Promise<void>;
}

/** Makes the surroundings of all cases. Throws RangeError for a version that the device does not have. */
export function setUpBench(device: Device, options: BenchOptions = {}): SetUp {
  const { halVersion = canonicalHalVersion } = device;
  const {
    version = isAidl(halVersion) ? "1.3" : halVersion,
    callLimit = defaultCallLimit,
    timer = systemTimer,
  } = options;
  if (version > halVersion) throw new RangeError(`${device.name} is of HAL ${halVersion}, not ${version}`);
  return setUpWatched(device, version, options, createWatch(callLimit, timer));
}

function setUpWatched(device: Device, version: HidlVersion, options: BenchOptions, watch: Watch): SetUp {
  const { now = steadyClock } = options;
  const connect = hasClients(device)
    ? () => {
        const client = device.connect();
        return { setUp: setUpWatched(client, version, options, watch), close: () => client.close() };
      }
    : undefined;
  const watched = watchDevice(device, { watch, mayOmitShapes: options.driver !== undefined });
  const drivers = driversOf(watched, version, options.driver, watch);
  const driver = drivers[version];
  if (driver === undefined) throw new RangeError(`the driver of ${device.name} is not of HAL ${version}`);
  const lift = (synchronous: boolean) =>
    watchDevice(liftDevice(device.name, driver, { synchronous, now }), { watch, mayOmitShapes: true });
  return {
    device: options.version === undefined ? watched : lift(true),
    own: { device: watched },
    version,
    drivers,
    aidl: options.version === undefined ? aidlOf(options.aidl ?? asVersion.aidl4(device)) : undefined,
    launching: lift(false),
    connect,
    watch,
    allowances: { ...defaultAllowances, ...options.allowances },
    now,
    createMemory: (size) => device.createMemory?.(size) ?? allocateMemory(size),
  };
}

/** A driver of AIDL with its version. Throws RangeError for none that exists. */
function aidlOf(device: AIDL1.IDevice): AidlDriver {
  const number = device.getInterfaceVersion();
  const version = aidlVersions[number - 1];
  if (version === undefined) throw new RangeError(`getInterfaceVersion: expected 1 to 4, got ${number}`);
  return { version, device };
}

/** Milliseconds that a call may take. */
export const defaultCallLimit = 10_000;

function hasClients(device: Device): device is Device & Pick<OpenedDevice, "connect"> {
  return "connect" in device && typeof device.connect === "function";
}

function driversOf(device: Device, version: HidlVersion, driver: AnyIDevice | undefined, watch: Watch): Drivers {
  return driversIn(watchDriver<AnyIDevice>(driver ?? asVersion[version](device), watch));
}

/** The device as a driver of a version. */
export function driverOf<Version extends HidlVersion>(
  { drivers, device }: Bench,
  version: Version,
): NonNullable<Drivers[Version]> {
  const driver = drivers[version];
  return driver ?? mismatch(`${device.name} is not a driver of HAL ${version}`);
}

/** One of the ways to execute. */
export async function wayOf(bench: Bench, name: Way["name"]): Promise<Way> {
  if (name === "executeFenced") await needMethod(bench, name);
  return { name, device: name === "launch" ? bench.launching : bench.device };
}

const missing = {
  executeFenced: "fenced executions",
  configureExecutionBurst: "bursts",
  createReusableExecution: "reusable executions",
} as const satisfies Readonly<Record<OptionalMethod, Need>>;

/** A bench for another client of the device; the client ends with the case. */
export function anotherClient(bench: Bench): Bench & Pick<AnotherClient, "close"> {
  const { connect, after, tell } = bench;
  if (connect === undefined) endAsUnsupported("other clients");
  const { setUp, close } = connect();
  after(close);
  return { ...setUp, after, tell, close };
}

/** Returns true if prepared models of the device have a method. */
export async function hasMethod(bench: Bench, method: OptionalMethod): Promise<boolean> {
  const { own } = bench;
  if (own.methods === undefined) {
    const { preparedModel, ...outcome } = await own.device.prepareModel((await smallModel(bench)).model);
    expectStatus("prepareModel", outcome, ErrorStatus.NONE);
    preparedModel?.close();
    own.methods = preparedModel ?? mismatch("prepareModel: NONE without a prepared model");
  }
  return own.methods[method] !== undefined;
}

/** Ends the case as unsupported if they lack it. */
export async function needMethod(bench: Bench, method: OptionalMethod): Promise<void> {
  if (!(await hasMethod(bench, method))) endAsUnsupported(missing[method]);
}

/** The names of the ways to execute. */
export const wayNames = ["execute", "launch", "executeFenced"] as const satisfies readonly Way["name"][];

/** The first model of some facts that the device supports. The type is the first possible one where none is given. */
export async function smallModel(bench: Bench, facts: Partial<SmallModelFacts> = {}): Promise<SmallModel> {
  const found = await findSmallModel(bench, facts);
  if (typeof found === "object") return found;
  const { type, dimensions, outputDimensions, ...others } = facts;
  const hasUnknown = dimensions?.includes(0) || outputDimensions?.includes(0);
  const known = hasUnknown ? await findSmallModel(bench, { ...others, ...(type && { type }) }) : undefined;
  if (typeof known !== "object") return endAsUnsupported(type ?? "models", found);
  // Why other operations are refused says nothing about the extents of this one.
  const same = buildSmallModel(known.operation, { ...facts, type: known.type });
  return endAsUnsupported("unknown extents", await supportOf(bench.device, same.model));
}

/** A model, or why there is none. */
async function findSmallModel(
  bench: Bench,
  { type, ...others }: Partial<SmallModelFacts>,
): Promise<SmallModel | string | undefined> {
  let refusal: string | undefined;
  for (const wanted of type === undefined ? elementTypes : [type]) {
    const found = await modelOfType(bench, { ...others, type: wanted });
    if (typeof found === "object") return found;
    refusal ??= found;
  }
  return refusal;
}

async function modelOfType(
  { device, version }: Bench,
  facts: SmallModelFacts,
): Promise<SmallModel | string | undefined> {
  let refusal: string | undefined;
  const isFixed = !facts.dimensions?.includes(0) && !facts.outputDimensions?.includes(0);
  for (const operation of smallOperations) {
    const since = operation.since[facts.type];
    if (since === undefined || since > version || (operation.hasFixedShape && !isFixed)) continue;
    const small = buildSmallModel(operation, facts);
    const answer = await supportOf(device, small.model);
    if (answer === undefined) return small;
    refusal ??= `the first that was tried, ${small.label}, is refused: ${answer}`;
  }
  return refusal;
}

/** Why a device does not support a model; undefined if it does. */
export async function supportOf(device: Device, model: Model): Promise<string | undefined> {
  const { supported, reasons, ...outcome } = await device.getSupportedOperations(model);
  expectStatus("getSupportedOperations", outcome, ErrorStatus.NONE);
  const { length } = model.main.operations;
  if (supported.length !== length)
    mismatch(`getSupportedOperations: ${supported.length} answers about ${length} operations`);
  return reasonAgainst(model, { supported, reasons });
}

/** Prepares a model that the device must accept; it is closed when the case is over. */
export async function prepare(
  bench: Bench,
  model: Model,
  options?: PrepareOptions,
  device = bench.device,
): Promise<PreparedModel> {
  const { preparedModel, ...outcome } = await device.prepareModel(model, options);
  expectStatus("prepareModel", outcome, ErrorStatus.NONE);
  if (preparedModel === null) mismatch("prepareModel: NONE without a prepared model");
  bench.after(() => preparedModel.close());
  return preparedModel;
}

/** The answer of an execution; without shapes and durations if the way to execute does not report them. */
export type WayResult = Pick<ExecutionResult, "status" | "message"> & Partial<ExecutionResult>;

/** Executes in one of the ways, and waits for the end. */
export async function executeBy(
  way: Way,
  preparedModel: PreparedModel,
  request: Request,
  options: ExecuteOptions = {},
): Promise<WayResult> {
  if (way.name !== "executeFenced") return preparedModel.execute(request, options);
  if (preparedModel.executeFenced === undefined) endAsUnsupported(missing.executeFenced);
  const { syncFence, callback, ...launched } = await preparedModel.executeFenced(request, [], options);
  if ((callback === null) === (launched.status === ErrorStatus.NONE)) {
    mismatch(`executeFenced: ${statusName(launched.status)} with ${callback === null ? "no" : "a"} callback`);
  }
  if (callback === null) {
    return syncFence === null ? launched : mismatch(`executeFenced: a fence beside ${statusName(launched.status)}`);
  }
  const state = (await syncFence?.wait()) ?? "SIGNALED";
  const info = await callback.getExecutionInfo();
  if ((state === "SIGNALED") !== (info.status === ErrorStatus.NONE)) {
    mismatch(`executeFenced: the fence is ${state}, but the callback says ${statusName(info.status)}`);
  }
  return { status: info.status, ...(info.message !== undefined && { message: info.message }) };
}
