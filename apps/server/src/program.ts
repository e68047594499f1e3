/** The server from its command line to its exit code. */
import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { createSecureContext } from "node:tls";
import { openExtensions } from "@nnhal/network/session";
import { endSignal, exitCodeOf, exitCodes, notifySystem, type Surroundings, UsageError } from "@nnhal/program";
import { createLog } from "@nnhal/program/log";
import { createBudget } from "./budget.ts";
import { openInDriver, openInWorkers } from "./engines.ts";
import { messageOf } from "./errors.ts";
import { createLane } from "./lane.ts";
import { findModels } from "./layout.ts";
import { listen } from "./listeners.ts";
import { createModels, type IndexEntry } from "./models.ts";
import { parseOptions, type Settings } from "./options.ts";
import { createService } from "./service.ts";
import { createTelemetry } from "./telemetry.ts";

/** Runs the server until a signal ends it. Resolves with the exit code. */
export async function runServer(surroundings: Surroundings): Promise<number> {
  const { args, version, stdout, stderr } = surroundings;
  const parsed = parseOptions(args, version);
  if ("text" in parsed) {
    (parsed.exitCode === exitCodes.done ? stdout : stderr)(parsed.text);
    return parsed.exitCode;
  }
  try {
    await serveUntilEnd(parsed.settings, surroundings);
    return exitCodes.done;
  } catch (error) {
    stderr(`nnhal-server: ${messageOf(error)}\n`);
    return exitCodeOf(error);
  }
}

async function serveUntilEnd(settings: Settings, surroundings: Surroundings): Promise<void> {
  const { env, cwd, version, stdout, stderr } = surroundings;
  const log = createLog(settings.logFormat, stderr, settings.logLevel);
  const ended = endSignal(surroundings);
  const path = resolve(cwd, settings.path);
  const find = () => findModels(path, settings.model, settings.name);
  // Faults of the command line are reported before anything is served.
  await openNamed(find);
  const token = await tokenOf(settings, surroundings);
  const tls = await tlsOf(settings, cwd);
  const { driver, driverOwner, engines, extensions } = settings;
  await openNamed(() => openExtensions(extensions));
  const models = createModels({
    find,
    open:
      driver === undefined
        ? openInWorkers(engines, extensions)
        : await openNamed(() => openInDriver(driver, cwd, driverOwner, extensions)),
    onEvent: (severity, message, model) => log[severity]({ service: model }, message),
  });
  const service = createService({
    models,
    version,
    token,
    telemetry: createTelemetry(models, version),
    mayLoad: !settings.readOnly,
    isStrict: settings.strictReadiness,
    timeout: settings.timeout,
  });
  const { restPort, grpcPort, host, bodyLimit, memoryLimit, connections, arrivalLimit } = settings;
  const onError = (error: unknown) =>
    log.error({ stack: error instanceof Error ? error.stack : undefined }, messageOf(error));
  const listeners = await listen({
    ...{ service, tls, host, restPort, grpcPort, bodyLimit, connections, arrivalLimit, onError },
    budget: createBudget(memoryLimit),
    lane: createLane(),
  });
  if (host !== "127.0.0.1" && host !== "localhost" && host !== "::1" && token === undefined) {
    log.warn(`all who reach ${host} can use the models: there is no token`);
  }
  try {
    // Probes are answered from now on.
    const loaded = await Promise.race([models.loadAll(settings.load).then(() => true), ended.then(() => false)]);
    if (loaded) {
      if (models.ready.length === 0 && settings.load?.length !== 0) throw new Error(whyEmpty(path, models.entries));
      service.begin();
      const names = new Set(models.ready.map(({ name }) => name));
      stdout(`${["ready", ...listeners.addresses, ...names].join(" ")}\n`);
      await notifySystem("--ready", env);
    }
    const signal = await ended;
    log.info({ signal }, "the server ends: requests may end");
    void notifySystem("--stopping", env);
    service.drain();
  } finally {
    const left = await listeners.close(settings.lingerLimit, settings.drainLimit);
    if (left) log.warn("requests were still under way when the time for the end was over");
    else await models.close();
  }
  log.info("all is closed");
}

/** Most models that a message names. */
const MOST_NAMED = 3;

/** Why no model could be loaded. */
function whyEmpty(path: string, entries: readonly IndexEntry[]): string {
  const reasons = entries.slice(0, MOST_NAMED).map(({ name, reason }) => `${name}: ${reason}`);
  const rest = entries.length > MOST_NAMED ? `; and ${entries.length - MOST_NAMED} more` : "";
  const why = reasons.length === 0 ? "there is none of those asked for" : `${reasons.join("; ")}${rest}`;
  return `no model of ${path} could be loaded: ${why} (--load none starts without models)`;
}

/** Opens an object that an argument names. A fault of it is one of the command line. */
async function openNamed<Result>(open: () => Promise<Result>): Promise<Result> {
  try {
    return await open();
  } catch (error) {
    throw new UsageError(messageOf(error), { cause: error });
  }
}

async function tokenOf({ tokenFile }: Settings, { env, cwd }: Surroundings): Promise<string | undefined> {
  const given =
    tokenFile === undefined ? env.NNHAL_SERVER_TOKEN : (await read("--token-file", tokenFile, cwd)).toString();
  if (given === undefined) return undefined;
  const token = given.trim();
  if (token === "") throw new UsageError(`the token is empty: ${tokenFile ?? "NNHAL_SERVER_TOKEN"}`);
  return token;
}

async function tlsOf({ tlsCert, tlsKey }: Settings, cwd: string): Promise<{ cert: Buffer; key: Buffer } | undefined> {
  if (tlsCert === undefined || tlsKey === undefined) return undefined;
  const [cert, key] = await Promise.all([read("--tls-cert", tlsCert, cwd), read("--tls-key", tlsKey, cwd)]);
  try {
    createSecureContext({ cert, key });
  } catch (error) {
    throw new UsageError(`TLS cannot use the certificate ${tlsCert} with the key ${tlsKey}: ${messageOf(error)}`);
  }
  return { cert, key };
}

async function read(option: string, file: string, cwd: string): Promise<Buffer> {
  try {
    return await readFile(resolve(cwd, file));
  } catch (error) {
    throw new UsageError(`the file of ${option} cannot be read: ${messageOf(error)}`);
  }
}
