/**
 * The options of dividing a model: read once, checked, and with the defaults that do not depend on the model.
 */
import type { OptionNames } from "@nnhal/operations";
import type { Device } from "@nnhal/types";
import { environmentProperties, getProp } from "@nnhal/utils";
import { describe, expectFunction, expectKind, optionsOf } from "./given.ts";
import { devicesGiven, type GivenDevices } from "./given-devices.ts";
import type { DivideOptions } from "./plan/divide.ts";
import { expect, ResultCode } from "./result-code.ts";

/** The property that sets the partition if the caller does not: see `DivideOptions.partition`. */
export const PARTITION_PROPERTY = "debug.nn.partition";

const callbacks = ["onFallback", "onStep", "now", "timer"] as const;

/** The names of the options of every division. */
export const divideOptions: OptionNames<DivideOptions> = {
  cpu: true,
  policy: true,
  partition: true,
  onFallback: true,
  onStep: true,
  separateOperations: true,
  log: true,
  trace: true,
  now: true,
  timer: true,
  watchdog: true,
};

/** The devices and the options of a compilation. Throws UNEXPECTED_NULL or BAD_DATA if one breaks a rule. */
export function divisionGiven<Options extends DivideOptions>(
  devices: readonly Device[],
  given: Options,
  what: string,
  known: OptionNames<Options>,
): GivenDevices & { readonly options: Options & { readonly partition: 0 | 1 | 2 } } {
  const options = optionsOf(given, what, known);
  const { log, trace, policy, partition = partitionProperty(options.cpu !== undefined), watchdog } = options;
  for (const name of callbacks) expectFunction(options[name], what, name);
  if (log !== undefined) expectKind(log, "Logger", what, "log");
  if (trace !== undefined) expectKind(trace, "Tracer", what, "trace");
  if (policy !== undefined) {
    const { kind, costs } = optionsOf(policy, what, undefined, "policy");
    const figures = Object.values(optionsOf(costs, what, undefined, "policy.costs"));
    const isPolicy = (kind === "android" || kind === "cost") && figures.every((cost) => cost >= 0);
    expect(isPolicy, ResultCode.BAD_DATA, () => `${what}: policy is ${describe(policy)}, not a policy`);
  }
  const isPartition = partition === 0 || partition === 1 || partition === 2;
  expect(isPartition, ResultCode.BAD_DATA, () => `${what}: partition is ${describe(partition)}, not 0, 1 or 2`);
  const isTime = watchdog === undefined || (typeof watchdog === "bigint" && watchdog > 0n);
  expect(
    isTime,
    ResultCode.BAD_DATA,
    () => `${what}: watchdog is ${describe(watchdog)}, not a bigint of nanoseconds > 0`,
  );
  const all = devicesGiven(devices, options.cpu, what);
  expect(all.devices.length > 0, ResultCode.BAD_DATA, () => `${what}: expected at least one device, got none`);
  expect(
    all.cpu !== undefined || partition !== 0,
    ResultCode.BAD_DATA,
    () => `${what}: partition 0 runs the whole model on the CPU, but there is none`,
  );
  return { ...all, options: { ...options, partition } };
}

function partitionProperty(hasCpu: boolean): 0 | 1 | 2 {
  const set = hasCpu ? getProp(environmentProperties, PARTITION_PROPERTY, 1) : 1;
  return set === 0 || set === 2 ? set : 1;
}
