/** The daemon from its command line to its exit code. */

import { writeFile } from "node:fs/promises";
import { referenceEngine } from "@nnhal/backend/engines";
import { openDevice } from "@nnhal/driver-core/device";
import { fileOutcomes } from "@nnhal/driver-core/outcomes";
import { endSignal, exitCodeOf, exitCodes, inheritedSockets, notifySystem, type Surroundings } from "@nnhal/program";
import { createLog, writeEntry } from "@nnhal/program/log";
import { RegistryError } from "@nnhal/service";
import { silentLogger, type Trace, toChromeTrace } from "@nnhal/utils";
import { steadyClock } from "@nnhal/utils/time";
import { type Calibration, calibrate, readCalibration, writeCalibration } from "./calibration.ts";
import { type Daemon, startDaemon } from "./daemon.ts";
import { type MetricsServer, metricsText, serveMetrics } from "./metrics.ts";
import { parseOptions, type Settings } from "./options.ts";
import {
  isInstalled,
  knownDevices,
  loadBackend,
  type Service,
  serviceOfModule,
  servicesOf,
  withoutDoubles,
} from "./services.ts";

/** Runs the daemon until a signal ends it. Resolves with the exit code. */
export async function runDaemon(surroundings: Surroundings): Promise<number> {
  const { args, env, version, stdout, stderr } = surroundings;
  const parsed = parseOptions(args, version, env);
  if ("text" in parsed) {
    (parsed.exitCode === exitCodes.done ? stdout : stderr)(parsed.text);
    return parsed.exitCode;
  }
  const { settings } = parsed;
  try {
    if (settings.list) {
      stdout(`${listText()}\n`);
      return exitCodes.done;
    }
    return await serveUntilEnd(settings, surroundings);
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    stderr(`nnhal-sample-driver: ${message}\n`);
    return exitCodeOf(error);
  }
}

function listText(): string {
  return knownDevices
    .map((name) => {
      try {
        servicesOf(name, isInstalled);
        return name;
      } catch (error) {
        return `${name}  not available: ${error instanceof Error ? error.message : error}`;
      }
    })
    .join("\n");
}

async function serveUntilEnd(settings: Settings, surroundings: Surroundings): Promise<number> {
  const { env, cwd, stdout, stderr } = surroundings;
  const log = createLog(settings.logFormat, stderr, settings.logLevel);
  const ended = endSignal(surroundings);

  const inherited = inheritedSockets(env);
  const own = settings.backend.map((text) => serviceOfModule(text, cwd));
  // With sockets of systemd and no wish of the user, these say which devices there are.
  const wanted = inherited.size > 0 && settings.devices === "all" ? [...inherited.keys()].join(",") : settings.devices;
  const known = own.length > 0 && settings.devices === "all" ? [] : servicesOf(wanted, isInstalled);
  const services = withoutDoubles([...known, ...own]);
  const daemon = await startDaemon({
    directory: settings.dir,
    state: settings.state,
    users: settings.allowUser,
    services,
    inherited,
    limits: settings.limits,
    clients: settings.clients,
    vlog: settings.vlog,
    traces: settings.trace !== undefined,
    drainLimit: settings.drainLimit,
    stallLimit: settings.stallLimit,
    calibrationOf: (service) =>
      calibrationOf(service, settings, (message) => log.warn({ service: service.name }, message)),
    eventsOf: ({ name }) => ({
      log: (entry) => writeEntry(log, name, entry),
      event: (severity, message, fields = {}) => log[severity]({ service: name, ...fields }, message),
    }),
  });
  let metrics: MetricsServer | undefined;
  try {
    metrics = await startMetrics(daemon, settings);
    if (metrics !== undefined) log.info(`metrics are served at http://127.0.0.1:${metrics.port}/metrics`);
    stdout(`ready ${settings.dir} ${services.map(({ name }) => name).join(" ")}\n`);
    await notifySystem("--ready", env);
    const signal = await ended;
    log.info({ signal }, "the daemon ends: running executions may end");
    void notifySystem("--stopping", env);
  } finally {
    const traces = await daemon.close();
    await metrics?.close();
    await writeTrace(traces, settings.trace);
  }
  log.info("all is closed");
  return exitCodes.done;
}

async function startMetrics({ hosts }: Daemon, { metrics }: Settings): Promise<MetricsServer | undefined> {
  if (metrics === undefined) return undefined;
  try {
    const text = () => metricsText(hosts, new Map(hosts.map(({ name, refused }) => [name, refused])));
    return await serveMetrics(metrics, text);
  } catch (error) {
    throw new RegistryError(
      `metrics cannot be served at port ${metrics}: ${error instanceof Error ? error.message : error}`,
    );
  }
}

async function writeTrace(traces: ReadonlyMap<string, Trace>, file: string | undefined): Promise<void> {
  if (file === undefined) return;
  const events = [...traces].map(([processName, trace], index) =>
    toChromeTrace(trace, { processName, processId: index + 1 }),
  );
  const [first] = events;
  const whole = { ...first, displayTimeUnit: "ms", traceEvents: events.flatMap(({ traceEvents }) => traceEvents) };
  await writeFile(file, `${JSON.stringify(whole)}\n`);
}

/**
 * The kept figures of a device. With `--calibrate`, a device without figures, or of another version, is measured. Sample devices have
 * those of Android.
 */
async function calibrationOf(
  service: Service,
  { state, calibrate: isWanted }: Settings,
  warn: (message: string) => void,
): Promise<Calibration | undefined> {
  if (service.source.kind === "sample" || service.source.module === referenceEngine.module) return undefined;
  const kept = await readCalibration(state, service.name);
  // Its version is compared when the device is open.
  if (!isWanted) return kept;
  const { backend } = await loadBackend(service);
  const { referenceBackend } = await import("@nnhal/backend-reference");
  const outcomes = fileOutcomes(state);
  const device = await openDevice({ backend, outcomes, caching: false, log: silentLogger });
  if ("unavailable" in device) {
    warn(`the device is not measured: ${device.unavailable}`);
    return undefined;
  }
  const reference = await openDevice({ backend: referenceBackend, caching: false, log: silentLogger });
  try {
    if ("unavailable" in reference) throw new Error(reference.unavailable);
    if (kept?.version === device.getVersionString().version) return kept;
    const calibration = await calibrate(device, reference, steadyClock);
    await writeCalibration(state, service.name, calibration);
    return calibration;
  } catch (error) {
    warn(`the figures of the device are not kept: ${error instanceof Error ? error.message : error}`);
    return undefined;
  } finally {
    await device.close();
    if (!("unavailable" in reference)) await reference.close();
  }
}
