/** The protocol's methods over gRPC. */
import { fileURLToPath } from "node:url";
import { loadSync } from "@grpc/proto-loader";
import type { Budget } from "./budget.ts";
import { decode, methodIn } from "./grpc-definition.ts";
import { inferRequestOfMessage, messageOfResponse } from "./grpc-messages.ts";
import type { Call, UnaryMethod } from "./grpc-method.ts";
import { createGrpcServer, type GrpcServer, type GrpcServerOptions } from "./grpc-server.ts";
import { healthFile, healthMethods, reflectionMethods } from "./grpc-services.ts";
import { readInferMessage } from "./infer-message.ts";
import type { ModelMetadata, Service } from "./service.ts";

/** The protocol's definition. */
export const protoFile = fileURLToPath(new URL("../proto/open_inference.proto", import.meta.url));

export interface GrpcOptions
  extends Pick<GrpcServerOptions, "arrivalLimit" | "connections" | "tls" | "onError" | "limits"> {
  readonly service: Service;
  readonly budget: Budget;
  /** Maximum bytes of a message. */
  readonly bodyLimit: number;
}

interface ModelName {
  readonly name: string;
  readonly version: string;
}

/** Maximum bytes of messages without tensors. */
const smallMessage = 2 ** 16;
/** Maximum bytes of messages that need no token. */
const openMessage = 2 ** 12;

/** Creates the methods of the protocol on a server that does not listen yet. */
export function createGrpc(options: GrpcOptions): GrpcServer {
  const { service, bodyLimit } = options;
  // Integers of 64 bits as text.
  const definitions = loadSync(protoFile, { keepCase: true, longs: String, defaults: true, oneofs: true });
  const found = definitions[serviceName];
  if (found === undefined || "format" in found) throw new Error(`${protoFile} has no ${serviceName}`);

  /** Makes a method whose request is small; `work` gets the message of the definition. */
  const method = <Message>(
    name: string,
    work: (message: Message) => object | Promise<object>,
    isOpen = false,
  ): UnaryMethod => {
    const { path, requestDeserialize, responseSerialize } = methodIn(found, name);
    return {
      ...{ path, isOpen, messageLimit: isOpen ? openMessage : smallMessage },
      async answer(bytes) {
        return responseSerialize(await work(decode(requestDeserialize, bytes)));
      },
    };
  };
  const infer = (): UnaryMethod => {
    const { path, responseSerialize } = methodIn(found, "ModelInfer");
    return {
      ...{ path, isOpen: false, messageLimit: bodyLimit },
      async answer(bytes, { headers, signal, holding, timeLeft }: Call) {
        const message = readInferMessage(bytes);
        const { model, version } = message;
        const arrival = {
          protocol: "grpc",
          ...{ model, version, headers, signal, holding, timeout: timeLeft() },
          // The memory of the message has no other user.
          isOwned: true,
        } as const;
        return service.infer(
          arrival,
          () => inferRequestOfMessage(message),
          (response) => responseSerialize(messageOfResponse(response, message.raw.length > 0)),
        );
      },
    };
  };
  return createGrpcServer({
    ...options,
    authorize: (header) => service.authorize(header),
    methods: [
      method("ServerLive", () => ({ live: true }), true),
      method("ServerReady", () => ({ ready: service.isReady }), true),
      method("ServerMetadata", () => service.metadata),
      method<ModelName>("ModelReady", ({ name, version }) => ({ ready: service.isModelReady(name, version) })),
      method<ModelName>("ModelMetadata", ({ name, version }) => withTexts(service.modelMetadata(name, version))),
      infer(),
      method<{ readonly ready: boolean }>("RepositoryIndex", async ({ ready }) => ({
        models: await service.index(ready),
      })),
      method<{ readonly model_name: string }>("RepositoryModelLoad", async (message) => {
        await service.load(message.model_name);
        return {};
      }),
      method<{ readonly model_name: string }>("RepositoryModelUnload", async (message) => {
        await service.unload(message.model_name);
        return {};
      }),
      ...healthMethods(service, serviceName, openMessage),
      ...reflectionMethods({ ...definitions, ...loadSync(healthFile) }, openMessage),
    ],
  });
}

/** The name of the protocol's service. */
const serviceName = "inference.GRPCInferenceService";

function withTexts(metadata: ModelMetadata): object {
  const textual = (tensors: ModelMetadata["inputs"]) =>
    tensors.map(({ shape, ...rest }) => ({ ...rest, shape: shape.map(String) }));
  return { ...metadata, inputs: textual(metadata.inputs), outputs: textual(metadata.outputs) };
}
