/** A server in this process whose models compute in this thread. */
import { createBudget } from "./budget.ts";
import type { GrpcOptions } from "./grpc.ts";
import { createLane } from "./lane.ts";
import { findModels } from "./layout.ts";
import { folderOf } from "./models.test-helper.ts";
import { createModels, type Models, type ModelsOptions } from "./models.ts";
import { createRest, type RestOptions } from "./rest.ts";
import { openRunner } from "./runner.ts";
import { createService, type Service, type ServiceOptions } from "./service.ts";
import { defaultSettings, type ModelSettings } from "./settings.ts";
import { createTelemetry } from "./telemetry.ts";

export interface TestServer {
  readonly app: ReturnType<typeof createRest>;
  readonly models: Models;
  readonly service: Service;
  /** For `createGrpc`. */
  readonly grpcOptions: GrpcOptions;
  readonly folder: string;
  readonly events: readonly string[];
}

export interface TestServerOptions
  extends Partial<ServiceOptions>,
    Partial<Pick<RestOptions, "bodyLimit" | "arrivalLimit">> {
  readonly settings?: Partial<ModelSettings>;
  readonly open?: ModelsOptions["open"];
  readonly load?: readonly string[];
}

/** Serves files such as `adding/1/model.tflite`, all loaded. */
export async function testServer(
  files: Readonly<Record<string, Uint8Array | string>>,
  { settings, open = openHere, load, bodyLimit = 2 ** 20, arrivalLimit = 30_000, ...more }: TestServerOptions = {},
): Promise<TestServer> {
  const folder = folderOf(files);
  const defaults = { ...defaultSettings, devices: "reference", ...settings };
  const events: string[] = [];
  const onEvent: ModelsOptions["onEvent"] = (severity, message, model) =>
    events.push(`${severity} ${model}: ${message}`);
  const models = createModels({ find: () => findModels(folder, defaults), open, onEvent });
  const telemetry = createTelemetry(models, "1.2.3");
  const options = { token: undefined, mayLoad: true, isStrict: false, timeout: undefined };
  const service = createService({ models, telemetry, version: "1.2.3", ...options, ...more });
  const onError = (error: unknown) => events.push(`error: ${error instanceof Error ? error.stack : error}`);
  const budget = createBudget(4 * bodyLimit);
  const shared = { service, budget, bodyLimit, arrivalLimit, connections: 100, tls: undefined, onError };
  const app = createRest({ ...shared, lane: createLane() });
  await models.loadAll(load);
  service.begin();
  return { app, models, service, folder, events, grpcOptions: shared };
}

/** Opens a model in this thread, only with the reference engine. */
export const openHere: ModelsOptions["open"] = ({ file, signature, settings }) =>
  openRunner(file, {
    engines: [],
    devices: settings.devices,
    dynamicShapes: true,
    ...(signature !== undefined && { signature }),
  });
