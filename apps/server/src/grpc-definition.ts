/** Messages of the definitions that @grpc/proto-loader reads. */
import { expectValid, messageOf } from "./errors.ts";

/** Decodes a message of a definition. Throws a RequestError if the bytes are not valid. */
export function decode<Message>(deserialize: (bytes: Buffer) => object, bytes: Uint8Array): Message {
  try {
    // The definition determines the members.
    return deserialize(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)) as Message;
  } catch (error) {
    expectValid(false, () => `the message is malformed: ${messageOf(error)}`);
    throw error;
  }
}

/** A method of a service as any version of @grpc/proto-loader reads it. */
export interface DefinedMethod {
  readonly path: string;
  requestDeserialize(bytes: Buffer): object;
  responseSerialize(message: object): Uint8Array;
}

/** Returns a method of a service; in the health service's own definition its name begins with a small letter or a capital. */
export function methodIn(service: Readonly<Record<string, DefinedMethod>>, name: string): DefinedMethod {
  const found = service[name] ?? service[`${name.charAt(0).toUpperCase()}${name.slice(1)}`];
  if (found === undefined) throw new Error(`the service has no method ${name}; it has ${Object.keys(service)}`);
  return found;
}
