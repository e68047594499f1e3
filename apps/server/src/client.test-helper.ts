/** A client of gRPC that is made from the protocol's definition, as other programs make theirs. */
import { type CallOptions, type ChannelCredentials, Client, credentials, Metadata } from "@grpc/grpc-js";
import { loadSync, type PackageDefinition } from "@grpc/proto-loader";
import { protoFile } from "./grpc.ts";

export interface GrpcClient {
  /** Calls a method with a message. Rejects with the status. */
  call(
    method: string,
    message?: object,
    options?: CallOptions & { readonly headers?: Record<string, string> },
  ): Promise<unknown>;
  close(): void;
}

/** Reads a definition as the server does. */
export function definitionOf(file: string): PackageDefinition {
  return loadSync(file, { keepCase: true, longs: String, defaults: true, oneofs: true });
}

export function grpcClient(address: string, security: ChannelCredentials = credentials.createInsecure()): GrpcClient {
  const service = definitionOf(protoFile)["inference.GRPCInferenceService"];
  const client = new Client(address, security, { "grpc.max_receive_message_length": -1 });
  return {
    call(method, message = {}, { headers = {}, ...options } = {}) {
      if (service === undefined || !(method in service)) throw new Error(`there is no method ${method}`);
      // Members of a service's definition are its methods.
      const { path, requestSerialize, responseDeserialize } = service[method as keyof typeof service] as {
        readonly path: string;
        requestSerialize(value: object): Buffer;
        responseDeserialize(bytes: Buffer): object;
      };
      const metadata = new Metadata();
      for (const [name, value] of Object.entries(headers)) metadata.set(name, value);
      return new Promise((resolve, reject) => {
        client.makeUnaryRequest(
          path,
          requestSerialize,
          responseDeserialize,
          message,
          metadata,
          options,
          (error, value) => {
            if (error === null) resolve(value);
            else reject(error);
          },
        );
      });
    },
    close: () => client.close(),
  };
}
