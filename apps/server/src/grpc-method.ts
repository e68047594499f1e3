/** Methods of gRPC as the server calls them: with the bytes of messages. */
import type { IncomingHttpHeaders } from "node:http2";
import type { Holding } from "./budget.ts";

/** A call that has been authorised. */
export interface Call {
  readonly headers: IncomingHttpHeaders;
  /** Aborts when the client has gone. */
  readonly signal: AbortSignal;
  /** Returns the milliseconds that the client still waits; undefined: it does not say. */
  timeLeft(): number | undefined;
  /** Memory of the call, which it gives back when its answer is taken. */
  readonly holding: Holding;
}

/** The server's side of a call with streams. */
export interface StreamCall extends Call {
  send(message: Uint8Array): void;
  /** Ends the call; with an error, by its status. Later calls are ignored. */
  end(error?: unknown): void;
}

interface MethodBase {
  /** Such as `/inference.GRPCInferenceService/ModelInfer`. */
  readonly path: string;
  /** True if it needs no token. */
  readonly isOpen: boolean;
  /** Maximum bytes of a message. */
  readonly messageLimit: number;
}

/** A method with one message and one answer. */
export interface UnaryMethod extends MethodBase {
  answer(message: Uint8Array<ArrayBuffer>, call: Call): Promise<Uint8Array>;
}

/** A method with streams. */
export interface StreamMethod extends MethodBase {
  /** Maximum messages of a call. */
  readonly messages: number;
  open(call: StreamCall): { message(bytes: Uint8Array): void /** The client sends no more. */; half(): void };
}

export type Method = UnaryMethod | StreamMethod;
