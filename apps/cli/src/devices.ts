/**
 * The devices of the command line: finds and opens them. If the package of an engine is missing, its device says so, and how to add it.
 */

import type {
  Backend,
  FormChoice,
  FormFailures,
  OpenOptions,
  OutcomeStore,
  PowerBasis,
  Unavailable,
} from "@nnhal/backend";
import { isMissing, referenceDevice } from "@nnhal/backend/engines";
import { openDevice } from "@nnhal/driver-core/device";
import { halVersionOf } from "@nnhal/network/session";
import { type ExtensionDefinition, elementAt } from "@nnhal/operations";
import { exitCodes } from "@nnhal/program";
import { runtimeAsDevice } from "@nnhal/runtime";
import type { Device, HalVersion } from "@nnhal/types";
import { noTracer, type Tracer } from "@nnhal/utils";
import type { Engine, RemoteEngine } from "./backend-module.ts";
import { failure, loadingReason, messageOf, usageError } from "./failure.ts";
import { allDevices } from "./option-values.ts";
import { oneLine } from "./text.ts";

/** A device, or why there is none. */
export interface FoundDevice {
  readonly name: string;
  /** A code of `DeviceType`; undefined if the engine could not be loaded. */
  readonly type: number | undefined;
  readonly opened: Device | Unavailable;
  /** The module of an engine that is installed. Default: none is, or it computes in another process. */
  readonly installed?: string;
  /** Remedies that would make a device work better. */
  readonly missing: readonly Unavailable[];
  /** Where its figures for power come from; undefined if it does not say. */
  readonly powerBasis?: PowerBasis | undefined;
  /** The forms that its self-check chose; undefined if it has none. */
  readonly choices?: readonly FormChoice[] | undefined;
  /** `now`: checked at this start; `kept`: the result of an earlier check was used. Undefined: no self-check, or no store. */
  readonly selfCheck?: "now" | "kept" | undefined;
  /** Form in which memories cross to the process of a device that is not of this one. */
  readonly memory?: string | undefined;
  /** The definitions of the extensions that it has. */
  readonly extensions: readonly ExtensionDefinition[];
}

/** Finds and opens devices. Each is opened at most once. */
export interface DeviceFinder {
  /** All devices, in the order in which they are preferred. */
  list(): Promise<readonly FoundDevice[]>;
  /** As `list`, but engines that are not open yet ignore kept self-checks and run new ones. */
  recheck(): Promise<readonly FoundDevice[]>;
  /** The device of a name, with or without the prefix `nnhal-`. Rejects with a CommandError. */
  open(name: string): Promise<Device>;
  /**
   * The devices of `--device`: one name, several with commas between them, in the order in which they win ties, or `auto`
   * for all that work here, which are opened at the same time. In a list, `auto` stands for these, which the reference of this process
   * then is behind if the list has it. Rejects with a CommandError.
   */
  select(names: string): Promise<DeviceSelection>;
  /**
   * The newest HAL version that all devices of `--device` have, to import a model for. Opens those of other processes alone: engines of this one
   * become devices of the newest version.
   */
  halVersion(names: string): Promise<HalVersion>;
  /** Devices that a command checks: `names` if given, else the only device that the user named. Throws a usage error. */
  toCheck(names: string | undefined): Promise<string>;
  /**
   * The definitions of extensions, each name once: of the user's modules and backends, which are opened for it, of the devices that are
   * open, and the extension of .tflite models.
   */
  definitions(): Promise<readonly ExtensionDefinition[]>;
}

/** Wishes of the user about devices. */
export interface DeviceFinderOptions {
  /** Default: off. */
  readonly trace?: Tracer | undefined;
  /** Extensions whose reference kernels the reference device is to run. Default: none. */
  readonly extensions?: readonly ExtensionDefinition[] | undefined;
  /** Command that installs a package of this project. Default: npm. */
  readonly installs?: ((module: string) => string) | undefined;
  /** Number of the first engines that are of the user's modules. Default: 0. */
  readonly own?: number | undefined;
  /** Number of the first engines that the user named, by their modules or as services of a daemon. Default: `own`. */
  readonly named?: number | undefined;
  /**
   * The engines of this process where the others are services of a daemon: they are found by name. One with the name of a service is called
   * `own:` and its name. Default: none.
   */
  readonly local?: readonly Engine[] | undefined;
  /** Where engines keep what they find when they check themselves. Default: nowhere. */
  readonly outcomes?: OutcomeStore | undefined;
  /** Receives what is wrong with an engine that is installed and that `auto` therefore leaves out. Default: it is dropped. */
  readonly note?: ((message: string) => void) | undefined;
}

/** Before the name of a device: the one of this process is meant, also if a service of a daemon has the same name. */
const ownPrefix = "own:";

/** The name of the reference of this program: it judges other devices, also if these are services of a daemon. */
export const judgeDevice = `${ownPrefix}${referenceDevice}`;

/** Devices to divide a model among. */
export interface DeviceSelection {
  /** True if any of them computes in another process. Default: no. */
  readonly isRemote?: boolean;
  readonly devices: readonly Device[];
  /** The one that the others fall back to. Only with `auto`: a list is all there is. */
  readonly cpu?: Device;
}

/** The devices of a selection as one device. */
export function asOneDevice({ devices, cpu }: DeviceSelection): Device {
  return devices.length === 1 ? elementAt(devices, 0) : runtimeAsDevice(devices, cpu && { cpu });
}

/** A finder over some engines. Throws a usage error if two of them give their devices the same name. */
export function createDeviceFinder(
  engines: readonly (Engine | RemoteEngine)[],
  {
    trace = noTracer,
    extensions = [],
    installs = byNpm,
    own = 0,
    named = own,
    local: given = [],
    outcomes,
    note = () => {},
  }: DeviceFinderOptions = {},
): DeviceFinder {
  const names = engines.map(({ device }) => device);
  const twice = names.find((name, place) => names.indexOf(name) !== place);
  if (twice !== undefined) {
    const modules = engines.filter(({ device }) => device === twice).map(({ module }) => module);
    throw usageError(`two devices are called ${twice}: those of ${modules.join(" and ")}`);
  }
  const local = given.map((engine) =>
    names.includes(engine.device) ? { ...engine, device: `${ownPrefix}${engine.device}` } : engine,
  );
  const found = new Map<Engine | RemoteEngine, Promise<FoundDevice>>();
  const find = (engine: Engine | RemoteEngine, store = outcomes): Promise<FoundDevice> => {
    const opening = async () => {
      if (!("connect" in engine)) return openEngine(engine, { trace, extensions, installs, outcomes: store });
      const connected = await connectEngine(engine);
      if (!("unavailable" in connected.opened)) remote.add(connected.opened);
      return connected;
    };
    const known = found.get(engine) ?? opening();
    found.set(engine, known);
    return known;
  };
  const remote = new Set<Device>();
  const noted = new Set<string>();
  const isRemote = (device: Device) => remote.has(device);
  const isLocalCpu = (device: Device) => !isRemote(device) && [referenceDevice, judgeDevice].includes(device.name);
  const list = () => Promise.all(engines.map((engine) => find(engine)));
  const recheck = () => {
    const anew = outcomes && { ...outcomes, read: async () => undefined };
    return Promise.all(engines.map((engine) => find(engine, anew)));
  };
  const open = async (name: string): Promise<Device> => {
    const plain = name.startsWith(ownPrefix) ? name.slice(ownPrefix.length) : undefined;
    const engine =
      plain === undefined
        ? [...engines, ...local].find(({ device }) => device === name || device === `nnhal-${name}`)
        : [...local, ...engines]
            .filter((each) => !("connect" in each))
            .find(({ device }) => [plain, `nnhal-${plain}`].includes(device.replace(ownPrefix, "")));
    if (engine === undefined) {
      throw usageError(`there is no device "${name}"; there are: ${await installedNames([...engines, ...local])}`);
    }
    const { opened } = await find(engine);
    if ("unavailable" in opened) throw failure(`device ${engine.device} cannot work here: ${describe(opened)}`);
    return opened;
  };
  const openAll = async (): Promise<DeviceSelection> => {
    const all = await list();
    for (const { installed, opened } of all) {
      if (installed === undefined || !("unavailable" in opened) || noted.has(installed)) continue;
      noted.add(installed);
      note(`${installed} is installed, but cannot be used: ${describe(opened)}`);
    }
    const devices = all.flatMap(({ opened }) => ("unavailable" in opened ? [] : [opened]));
    const cpu = devices.find(({ name }) => name === referenceDevice);
    if (devices.length > 0) return { devices, isRemote: devices.some(isRemote), ...(cpu && { cpu }) };
    const problems = all.flatMap(({ name, opened }) =>
      "unavailable" in opened ? [`${name}: ${describe(opened)}`] : [],
    );
    throw failure(`no device works here. ${problems.join("; ")}`);
  };
  return {
    list,
    recheck,
    open,
    async definitions() {
      for (const engine of engines.slice(0, own)) void find(engine);
      const opened = await Promise.all(found.values());
      const { tfliteExtension } = await import("@nnhal/extension-tflite");
      const all = [...extensions, ...opened.flatMap((device) => device.extensions), tfliteExtension];
      return all.filter(({ name }, place) => all.findIndex((other) => other.name === name) === place);
    },
    async select(text) {
      if (text === allDevices) return openAll();
      const listed = text.split(",").map((name) => name.trim());
      const opened = await Promise.all(
        listed.map(async (name) => (name === allDevices ? (await openAll()).devices : [await open(name)])),
      );
      const devices = opened.flat();
      const double = devices.find((device, place) => devices.indexOf(device) !== place);
      if (double !== undefined) {
        const own = isRemote(double) ? `; ${ownPrefix}${double.name} is that of this process` : "";
        throw usageError(`the device ${double.name} is listed twice${own}`);
      }
      // As in NNAPI, the CPU of this process runs operations that the daemon's devices refuse or fail at.
      const cpu = listed.includes(allDevices) ? devices.find(isLocalCpu) : undefined;
      return { devices, isRemote: devices.some(isRemote), ...(cpu && { cpu }) };
    },
    async halVersion(text) {
      const listed = text.split(",").map((name) => name.trim());
      const isMeant = (engine: Engine | RemoteEngine) =>
        "connect" in engine &&
        listed.some((name) => [allDevices, engine.device].includes(name) || engine.device === `nnhal-${name}`);
      const connected = await Promise.all(engines.filter(isMeant).map((engine) => find(engine)));
      return halVersionOf({ devices: connected.flatMap(({ opened }) => ("unavailable" in opened ? [] : [opened])) });
    },
    async toCheck(given) {
      if (given !== undefined) return given;
      const [only, ...more] = names.slice(0, named);
      if (only !== undefined && more.length === 0) return only;
      throw usageError(`--device says what to check, and it is not given; there are: ${await installedNames(engines)}`);
    },
  };
}

/** The names of the devices whose packages are installed, for messages. */
async function installedNames(engines: readonly (Engine | RemoteEngine)[]): Promise<string> {
  const names = engines.map(async (engine) => {
    const isAbsent = (error: unknown) => isMissing(error, engine.module);
    const isThere =
      "connect" in engine ||
      (await engine.load().then(
        () => true,
        (error: unknown) => !isAbsent(error),
      ));
    return isThere ? [engine.device] : [];
  });
  return (await Promise.all(names)).flat().join(", ");
}

function describe({ unavailable, remedy }: Unavailable): string {
  return remedy === undefined ? unavailable : `${unavailable}; ${remedy}`;
}

function byNpm(module: string): string {
  return `npm install ${module}`;
}

/** Values on which opening an engine depends. */
interface Opening {
  readonly trace: Tracer;
  readonly extensions: readonly ExtensionDefinition[];
  readonly outcomes: OutcomeStore | undefined;
  installs(module: string): string;
}

async function connectEngine({ device: name, connect }: RemoteEngine): Promise<FoundDevice> {
  const connected = await connect();
  if ("unavailable" in connected) {
    return { name, type: undefined, opened: connected, missing: [], extensions: [] };
  }
  const { device, memory } = connected;
  return { name, type: device.getType().type, opened: device, missing: [], memory, extensions: [] };
}

async function openEngine(
  engine: Engine,
  { trace, extensions: wanted, installs, outcomes }: Opening,
): Promise<FoundDevice> {
  const { device: name, module: installed } = engine;
  let backend: Backend;
  try {
    backend = await (wanted.length > 0 && engine.withExtensions ? engine.withExtensions(wanted) : engine.load());
  } catch (error) {
    if (error instanceof Error && "exitCode" in error && error.exitCode === exitCodes.usage) throw error;
    const there = isMissing(error, installed) ? {} : { installed };
    return {
      name,
      type: undefined,
      opened: whyNotLoaded(engine, error, installs),
      ...there,
      missing: [],
      extensions: [],
    };
  }
  let type = backend.deviceType;
  let missing: readonly Unavailable[] = [];
  let powerBasis: PowerBasis | undefined;
  let choices: readonly FormChoice[] | undefined;
  let extensions: readonly ExtensionDefinition[] = [];
  const watched = outcomes && watchOutcomes(outcomes);
  const open = async (options?: OpenOptions) => {
    const session = await backend.open(options);
    if (!("unavailable" in session)) {
      missing = session.missing ?? [];
      powerBasis = session.powerBasis;
      choices = session.choices;
      type = session.deviceType ?? type;
      extensions = session.extensions ?? [];
    }
    return session;
  };
  try {
    const opened = await openDevice({
      backend: { name: backend.name, deviceType: type, open },
      ...{ name, trace, outcomes: watched?.store },
    });
    const found = "unavailable" in opened ? [] : extensions;
    const facts = { installed, missing, powerBasis, choices, selfCheck: watched?.used(), extensions: found };
    return { name, type, opened, ...facts };
  } catch (error) {
    const unavailable = `opening it failed: ${oneLine(messageOf(error))}`;
    return { name, type, opened: { unavailable }, installed, missing: [], extensions: [] };
  }
}

/** A store that records whether an outcome was read or written. */
function watchOutcomes(store: OutcomeStore) {
  let used: FoundDevice["selfCheck"];
  return {
    store: {
      async read(key: string) {
        const outcome = await store.read(key);
        if (outcome !== undefined) used ??= "kept";
        return outcome;
      },
      write(key: string, failures: FormFailures) {
        used = "now";
        return store.write(key, failures);
      },
    },
    used: () => used,
  };
}

function whyNotLoaded(
  { module, packages = module }: Engine,
  error: unknown,
  installs: (module: string) => string,
): Unavailable {
  return isMissing(error, module)
    ? { unavailable: `${module} is not installed`, remedy: installs(packages) }
    : { unavailable: `loading ${module} failed: ${oneLine(loadingReason(error))}` };
}
