/**
 * Context of commands, made of the process around the command line and of the options that all commands share.
 */
import { currentApplication, readAllowList } from "@nnhal/runtime";
import { createTraceRecorder, silentLogger, type Tracer } from "@nnhal/utils";
import { engineOf, extensionsOf } from "./backend-module.ts";
import type { CommandContext, DemoContext, SharedOptions, Surroundings } from "./context.ts";
import { asOneDevice, createDeviceFinder, type DeviceFinder, type DeviceFinderOptions } from "./devices.ts";
import { stackOf } from "./failure.ts";
import { oneLine } from "./text.ts";

/** `light` loads the user's modules when a device is opened, `full` before it resolves. */
export function createContexts(
  options: SharedOptions,
  surroundings: Surroundings,
): { readonly light: CommandContext; full(): Promise<DemoContext> } {
  const { stderr, startSelf, extensionsAllowed } = surroundings;
  const trace = createTraceRecorder();
  let finder: Promise<DeviceFinder> | undefined;
  const note = (message: string) => stderr.write(`nnhal: note: ${oneLine(message)}\n`);
  const devices = () => {
    finder ??= findDevices(options, { ...surroundings, note }, trace);
    return finder;
  };
  const light: CommandContext = {
    ...surroundings,
    showWhere(error) {
      if (options.debug === true) stderr.write(`${stackOf(error)}\n`);
    },
    deviceToCheck: async (names) => (await devices()).toCheck(names),
    openDevice: async (names) => asOneDevice(await (await devices()).select(names)),
    sharedArguments: sharedArguments({ ...options, debug: false }),
    ...(startSelf !== undefined && { startSelf: (args) => startSelf([...sharedArguments(options), ...args]) }),
  };
  return {
    light,
    full: async () => ({
      ...surroundings,
      ...light,
      trace,
      shared: options,
      devices: await devices(),
      allowList() {
        const list = extensionsAllowed ?? readAllowList({ log: silentLogger });
        return { source: list.source, refused: list.whyRefused(currentApplication()) ?? null };
      },
    }),
  };
}

/**
 * The user's backends come before those that this program knows. Naming one of these moves it to the front. With services of a daemon
 * those that this program knows are used if they are named.
 */
export async function findDevices(
  { backend: modules = [], extension: definitions = [], driver: drivers = [], driverOwner }: SharedOptions,
  {
    engines: knownEngines,
    cwd,
    installs,
    stateDirectory,
    note,
  }: Pick<Surroundings, "engines" | "cwd" | "installs" | "stateDirectory"> & Pick<DeviceFinderOptions, "note">,
  trace: Tracer,
): Promise<DeviceFinder> {
  const { servicesAt } = await import("./driver-services.ts");
  const services = (await Promise.all(drivers.map((driver) => servicesAt(driver, cwd, driverOwner)))).flat();
  const known = await knownEngines();
  const engines = drivers.length > 0 ? services : known;
  const own = await Promise.all(modules.map((module) => engineOf(module, cwd)));
  const others = engines.filter(({ module }) => !modules.includes(module));
  const extensions = (await Promise.all(definitions.map((module) => extensionsOf(module, cwd)))).flat();
  const named = own.length + services.length;
  const local = drivers.length > 0 ? known.filter(({ module }) => !modules.includes(module)) : [];
  const state = await stateDirectory?.();
  const outcomes = state === undefined ? undefined : (await import("@nnhal/driver-core/outcomes")).fileOutcomes(state);
  return createDeviceFinder([...own, ...others], {
    trace,
    extensions,
    installs,
    own: own.length,
    named,
    local,
    outcomes,
    note,
  });
}

/** The shared options as arguments, for a child process that is to know the same devices. */
function sharedArguments({
  backend = [],
  extension = [],
  driver = [],
  driverOwner,
  debug = false,
}: SharedOptions): string[] {
  const name = (option: string, modules: readonly string[]) => modules.flatMap((module) => [option, module]);
  const all = [...name("--backend", backend), ...name("--extension", extension), ...name("--driver", driver)];
  const owner = driverOwner === undefined ? [] : ["--driver-owner", String(driverOwner)];
  return [...all, ...owner, ...(debug ? ["--debug"] : [])];
}
