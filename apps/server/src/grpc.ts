/** The protocol over gRPC. */
import { fileURLToPath } from "node:url";
import {
  logVerbosity,
  Metadata,
  Server,
  type ServerUnaryCall,
  type ServiceDefinition,
  type sendUnaryData,
  setLogVerbosity,
  status,
} from "@grpc/grpc-js";
import { loadSync, type PackageDefinition } from "@grpc/proto-loader";
import { messageOf, RequestError } from "./errors.ts";
import { inferRequestOfMessage, type ModelInferRequest, messageOfResponse } from "./grpc-messages.ts";
import { addHealth, addReflection, healthFile } from "./grpc-services.ts";
import type { ModelMetadata, Service } from "./service.ts";

/** The protocol's definition. */
export const protoFile = fileURLToPath(new URL("../proto/open_inference.proto", import.meta.url));

export interface GrpcOptions {
  readonly service: Service;
  /** Bytes of a message. */
  readonly bodyLimit: number;
  /** Errors of the server itself. */
  onError(error: unknown): void;
}

interface ModelName {
  readonly name: string;
  readonly version: string;
}

/** A call of any method; its messages are those of the definition. */
type Call<Message> = Pick<
  ServerUnaryCall<Message, object>,
  "request" | "metadata" | "getDeadline" | "on" | "cancelled"
>;

/** The methods of the protocol on a server that is bound to no address yet. */
export function createGrpc({ service, bodyLimit, onError }: GrpcOptions): Server {
  // What fails is returned to the caller, who logs it.
  setLogVerbosity(logVerbosity.NONE);
  const server = new Server({
    "grpc.max_receive_message_length": bodyLimit,
    "grpc.max_send_message_length": -1,
    "grpc.max_concurrent_streams": 1024,
  });
  /** A method that answers with a message, or with the status of an error. */
  const method =
    <Message>(work: (call: Call<Message>) => object | Promise<object>, isOpen = false) =>
    (call: ServerUnaryCall<Message, object>, answer: sendUnaryData<object>) => {
      const answering = async () => {
        if (!isOpen) service.authorize(textOf(call.metadata.get("authorization")[0]));
        return work(call);
      };
      answering().then(
        (message) => answer(null, message),
        (error: unknown) => {
          if (!(error instanceof RequestError) || error.kind === "failed") onError(error);
          answer(statusOf(error));
        },
      );
    };
  // Integers of 64 bits as text.
  const definitions = loadSync(protoFile, { keepCase: true, longs: String, defaults: true, oneofs: true });
  addHealth(server, service, serviceName);
  addReflection(server, { ...definitions, ...loadSync(healthFile) });
  server.addService(serviceIn(definitions), {
    ServerLive: method(() => ({ live: true }), true),
    ServerReady: method(() => ({ ready: service.isReady }), true),
    ServerMetadata: method(() => service.metadata),
    ModelReady: method<ModelName>(({ request: { name, version } }) => ({ ready: service.isModelReady(name, version) })),
    ModelMetadata: method<ModelName>(({ request: { name, version } }) =>
      withTexts(service.modelMetadata(name, version)),
    ),
    ModelInfer: method<ModelInferRequest>(async (call) => {
      const { request, metadata } = call;
      const admitted = service.admit("grpc", request.model_name, request.model_version);
      const gone = new AbortController();
      call.on("cancelled", () => gone.abort());
      if (call.cancelled) gone.abort();
      const arrival = {
        protocol: "grpc",
        headers: metadata.getMap(),
        signal: gone.signal,
        timeout: timeLeft(call.getDeadline()),
        // Its tensors share their memory with other messages.
        isOwned: false,
      } as const;
      return service.infer(
        admitted,
        () => inferRequestOfMessage(request),
        arrival,
        (response) => messageOfResponse(response, request.raw_input_contents.length > 0),
      );
    }),
    RepositoryIndex: method<{ readonly ready: boolean }>(async ({ request: { ready } }) => {
      return { models: await service.index(ready) };
    }),
    RepositoryModelLoad: method<{ readonly model_name: string }>(async ({ request }) => {
      await service.load(request.model_name);
      return {};
    }),
    RepositoryModelUnload: method<{ readonly model_name: string }>(async ({ request }) => {
      await service.unload(request.model_name);
      return {};
    }),
  });
  return server;
}

/** The name of the protocol's service. */
const serviceName = "inference.GRPCInferenceService";

/** The service of the protocol's definition. */
function serviceIn(definitions: PackageDefinition): ServiceDefinition {
  const found = definitions[serviceName];
  if (found === undefined || "format" in found) throw new Error(`${protoFile} has no ${serviceName}`);
  return found;
}

function withTexts(metadata: ModelMetadata): object {
  const textual = (tensors: ModelMetadata["inputs"]) =>
    tensors.map(({ shape, ...rest }) => ({ ...rest, shape: shape.map(String) }));
  return { ...metadata, inputs: textual(metadata.inputs), outputs: textual(metadata.outputs) };
}

function timeLeft(deadline: Date | number): number | undefined {
  const at = typeof deadline === "number" ? deadline : deadline.getTime();
  return Number.isFinite(at) ? Math.max(at - Date.now(), 0.001) : undefined;
}

function statusOf(error: unknown): { code: status; details: string; metadata: Metadata } {
  const metadata = new Metadata();
  if (error instanceof RequestError && error.retryAfter !== undefined) {
    metadata.set("retry-after", String(error.retryAfter));
    // What clients with a policy of retries obey.
    metadata.set("grpc-retry-pushback-ms", String(error.retryAfter * 1000));
  }
  return {
    code: error instanceof RequestError ? error.grpcStatus : status.INTERNAL,
    details: messageOf(error),
    metadata,
  };
}

function textOf(value: string | Buffer | undefined): string | undefined {
  return value === undefined ? undefined : String(value);
}
