/**
 * The devices that a model may run on. Engines are loaded when they are needed, and each is opened once.
 */

import type { Backend, Unavailable } from "@nnhal/backend";
import { exportedBackend, isBackend, referenceDevice as reference } from "@nnhal/backend/engines";
import { type OpenedDevice, openDevice } from "@nnhal/driver-core/device";
import type { ExtensionDefinition } from "@nnhal/operations";
import { canonicalHalVersion, type Device, type HalVersion, newestHalVersion } from "@nnhal/types";
import { silentLogger } from "@nnhal/utils";
import { installOf, knownEngines, loadModule } from "#platform";
import { check, NetworkError } from "./error.ts";
import { messageOf, oneLine } from "./text.ts";

/**
 * An engine: a backend, a function that loads one or a module that exports one as `backend`, or the name of such a module.
 * In a browser and in bundles a function, such as `() => import("@nnhal/backend-tfjs")`, since names mean nothing there.
 */
export type Engine = Backend | (() => Promise<unknown>) | string;

/** Devices to divide a model among. */
export interface Selection {
  readonly devices: readonly Device[];
  /** The one that the others fall back to. */
  readonly cpu?: Device;
  /** Closes the devices that belong to this selection alone. */
  close(): Promise<void>;
}

/** Which devices to use. */
export interface SelectionOptions {
  /** See `LoadOptions`. */
  readonly devices?: string | readonly (string | Device)[] | undefined;
  readonly engines?: readonly Engine[] | undefined;
  readonly extensions?: readonly ExtensionDefinition[] | undefined;
  /** See `LoadOptions`. */
  readonly cache?: string | undefined;
}

type Opened = OpenedDevice | Unavailable;

/** The devices of engines that are open. An engine whose backend is garbage is closed by nothing: engines live as long as the process. */
const shared = new WeakMap<Backend, Promise<Opened>>();

function openShared(backend: Backend, cache: string | undefined): Promise<Opened> {
  const known = shared.get(backend) ?? open(backend, cache);
  shared.set(backend, known);
  return known;
}

async function open(backend: Backend, cache: string | undefined): Promise<Opened> {
  try {
    // The reader of outcomes is loaded if they are kept.
    const outcomes =
      cache === undefined ? undefined : (await import("@nnhal/driver-core/outcomes")).fileOutcomes(cache);
    return await openDevice({ backend, outcomes, log: silentLogger });
  } catch (error) {
    return { unavailable: `opening it failed: ${oneLine(messageOf(error))}` };
  }
}

/** A part of a selection that may become a device. */
interface Candidate {
  /** Such as `nnhal-tfjs`; undefined if that is known only once it is loaded. */
  readonly name: string | undefined;
  /** For messages. */
  readonly text: string;
  /** undefined: it is not installed. */
  load(): Promise<Backend | undefined>;
}

/** Backends with the extension for .tflite, by the backend without it. */
const extended = new WeakMap<Backend, Backend>();

/** Adds the extension for .tflite to a backend that takes extensions. Returns the same backend each time. */
function addTflite(backend: Backend, tflite: ExtensionDefinition): Backend {
  const known = extended.get(backend) ?? backend.withExtensions?.([tflite]) ?? backend;
  extended.set(backend, known);
  return known;
}

const references = new Map<ExtensionDefinition | undefined, Promise<Backend>>();

/** The reference: with the extension for .tflite if that is given, which models share, and with other extensions. */
function loadReference(
  tflite: ExtensionDefinition | undefined,
  extensions: readonly ExtensionDefinition[],
): Promise<Backend> {
  const make = async () => {
    const { createReferenceBackend } = await import("@nnhal/backend-reference");
    return createReferenceBackend({ extensions: [...(tflite ? [tflite] : []), ...extensions] });
  };
  if (extensions.length > 0) return make();
  const known = references.get(tflite) ?? make();
  references.set(tflite, known);
  return known;
}

/** The newest HAL version that all devices have which may be chosen. Engines become devices of the newest. */
export function halVersionOf({ devices }: SelectionOptions): HalVersion {
  return (Array.isArray(devices) ? devices : []).reduce<HalVersion>((common, device: string | Device) => {
    const version = typeof device === "string" ? common : (device?.halVersion ?? canonicalHalVersion);
    return version < common ? version : common;
  }, newestHalVersion);
}

/**
 * The devices that are asked for. `tflite`: the extension for .tflite, if the model needs it. `onEngineWarning`: an engine is installed and
 * does not work, and others compute in its place. Rejects with a NetworkError.
 */
export async function selectDevices(
  options: SelectionOptions,
  tflite: ExtensionDefinition | undefined,
  onEngineWarning: (message: string) => void = () => {},
): Promise<Selection> {
  const { devices: wanted = "auto", engines, extensions = [], cache } = options;
  const candidates: Candidate[] = [
    ...(engines ?? knownEngines).map((engine) => candidateOf(engine, engines !== undefined)),
    { name: reference, text: reference, load: () => loadReference(tflite, extensions) },
  ];
  const own: OpenedDevice[] = [];
  const openCandidate = async (candidate: Candidate): Promise<Opened | undefined> => {
    const loaded = await candidate.load();
    if (loaded === undefined) return undefined;
    const backend = tflite === undefined ? loaded : addTflite(loaded, tflite);
    // A reference with the user's extensions belongs to this model alone.
    const isOwn = candidate.name === reference && extensions.length > 0;
    const opened = await (isOwn ? open(backend, cache) : openShared(backend, cache));
    if (isOwn && !("unavailable" in opened)) own.push(opened);
    return opened;
  };
  const close = async () => void (await Promise.all(own.map((device) => device.close())));
  if (wanted === "auto") {
    const openOrWarn = async (candidate: Candidate): Promise<Opened | undefined> => {
      let opened: Opened | undefined;
      try {
        opened = await openCandidate(candidate);
      } catch (error) {
        // An engine that was not asked for stops nothing.
        if (engines !== undefined || !(error instanceof NetworkError)) throw error;
        opened = { unavailable: error.message };
      }
      const isBroken = opened !== undefined && "unavailable" in opened;
      if (isBroken) onEngineWarning(`${candidate.text} is installed, but cannot be used: ${whyNot(opened)}`);
      return opened;
    };
    const all = await Promise.all(candidates.map(openOrWarn));
    const devices = all.filter((each): each is OpenedDevice => each !== undefined && !("unavailable" in each));
    const cpu = devices.find(({ name }) => name === reference);
    check(devices.length > 0, "NO_DEVICE", () => `no device works here: ${all.map(whyNot).join("; ")}`);
    return { devices, ...(cpu && { cpu }), close };
  }
  const names = typeof wanted === "string" ? wanted.split(",").map((name) => name.trim()) : wanted;
  check(Array.isArray(names) && names.length > 0, "BAD_OPTION", () => "devices: it is an empty list");
  const devices: Device[] = [];
  for (const name of names) {
    const device = typeof name === "string" ? await openNamed(name, candidates, openCandidate) : name;
    check(!devices.includes(device), "BAD_OPTION", () => `devices: ${device.name} is listed twice`);
    devices.push(device);
  }
  return { devices, close };
}

async function openNamed(
  name: string,
  candidates: readonly Candidate[],
  openCandidate: (candidate: Candidate) => Promise<Opened | undefined>,
): Promise<Device> {
  const isIt = (full: string | undefined) => full === name || full === `nnhal-${name}`;
  const known = candidates.filter((candidate) => isIt(candidate.name));
  for (const candidate of [...known, ...candidates.filter((each) => each.name === undefined)]) {
    const opened = await openCandidate(candidate);
    if (opened === undefined) {
      throw new NetworkError(
        "NO_DEVICE",
        `the device ${name} is not installed: npm install ${installOf(candidate.text)}`,
      );
    }
    if ("unavailable" in opened) {
      if (candidate.name === undefined) continue;
      throw new NetworkError("NO_DEVICE", `the device ${name} cannot work here: ${whyNot(opened)}`);
    }
    if (isIt(opened.name)) return opened;
  }
  const names = candidates.map((each) => each.name ?? each.text).join(", ");
  throw new NetworkError("NO_DEVICE", `there is no device "${name}"; there are: ${names}`);
}

function whyNot(opened: Opened | undefined): string {
  if (opened === undefined) return "it is not installed";
  if (!("unavailable" in opened)) return "it works";
  return opened.remedy === undefined ? opened.unavailable : `${opened.unavailable}; ${opened.remedy}`;
}

function candidateOf(engine: Engine, isGiven: boolean): Candidate {
  if (typeof engine === "string") {
    const known = /^@nnhal\/backend-([a-z0-9]+)$/.exec(engine);
    return {
      name: known ? `nnhal-${known[1]}` : undefined,
      text: engine,
      async load() {
        const module = await loadModule(engine).catch((error: unknown) => {
          if (error instanceof NetworkError) throw error;
          throw new NetworkError("NO_DEVICE", `loading ${engine} failed: ${oneLine(messageOf(error))}`, {
            cause: error,
          });
        });
        if (module !== undefined) return backendIn(module, engine);
        check(!isGiven, "NO_DEVICE", () => `${engine} is not installed: npm install ${installOf(engine)}`);
        return undefined;
      },
    };
  }
  const text = typeof engine === "function" ? "a function of engines" : `the engine ${String(engine?.name)}`;
  return {
    name: typeof engine === "function" ? undefined : `nnhal-${engine.name}`,
    text,
    load: async () => backendIn(typeof engine === "function" ? await engine() : engine, text),
  };
}

/** The backend that a value is, or that a module exports. */
function backendIn(value: unknown, what: string): Backend {
  const backend = isBackend(value) ? value : exportedBackend(value);
  check(
    backend !== undefined,
    "BAD_OPTION",
    () => `engines: ${what} is not a backend, nor a module that exports one as backend`,
  );
  return backend;
}
