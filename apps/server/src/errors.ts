/** Errors of requests, and their codes in both protocols. */
import { status } from "./grpc-status.ts";

const kinds = {
  /** The request breaks a rule of the protocol, or does not fit the model. */
  invalid: { http: 400, grpc: status.INVALID_ARGUMENT },
  unauthorized: { http: 401, grpc: status.UNAUTHENTICATED },
  wrongToken: { http: 401, grpc: status.UNAUTHENTICATED },
  /** The server does not permit this to clients. */
  forbidden: { http: 403, grpc: status.PERMISSION_DENIED },
  unknown: { http: 404, grpc: status.NOT_FOUND },
  tooLarge: { http: 413, grpc: status.RESOURCE_EXHAUSTED },
  /** The body or message is packed in a way that the server does not unpack. */
  unsupported: { http: 415, grpc: status.UNIMPLEMENTED },
  /** The device cannot compute these inputs, whose open extents the server cannot judge. */
  unprocessable: { http: 422, grpc: status.INVALID_ARGUMENT },
  /** The model has its maximum number of requests. */
  busy: { http: 429, grpc: status.RESOURCE_EXHAUSTED },
  cancelled: { http: 499, grpc: status.CANCELLED },
  failed: { http: 500, grpc: status.INTERNAL },
  /** The model or the server is not ready. */
  unavailable: { http: 503, grpc: status.UNAVAILABLE },
  late: { http: 504, grpc: status.DEADLINE_EXCEEDED },
} as const;

/** Kind of an error. */
export type ErrorKind = keyof typeof kinds;

/** The error of a request. */
export class RequestError extends Error {
  override readonly name = "RequestError";
  readonly kind: ErrorKind;
  /** Seconds after which the client should try again. */
  readonly retryAfter: number | undefined;

  constructor(
    kind: ErrorKind,
    message: string,
    options: { readonly cause?: unknown; readonly retryAfter?: number } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.kind = kind;
    this.retryAfter = options.retryAfter;
  }

  get httpStatus(): number {
    return kinds[this.kind].http;
  }

  get grpcStatus(): number {
    return kinds[this.kind].grpc;
  }
}

/** Throws that a request is not valid, unless a condition holds. */
export function expectValid(condition: boolean, message: () => string): asserts condition {
  if (!condition) throw new RequestError("invalid", message());
}

/** Formats a JSON value for a message: at most 80 characters. */
export function valueText(value: unknown): string {
  try {
    return shortText(JSON.stringify(value) ?? String(value), 80);
  } catch {
    // JSON is read without recursion, but written with it.
    return "a value of too many lists or objects inside each other";
  }
}

/** Shortens a text to at most `most` characters, which are not cut in two; invalid code units become U+FFFD. */
export function shortText(text: string, most: number): string {
  // Twice as many units have at least as many characters.
  const characters = Array.from(text.slice(0, 2 * most + 2));
  const isShort = text.length <= 2 * most + 2 && characters.length <= most;
  return Buffer.from(isShort ? text : `${characters.slice(0, most - 1).join("")}…`).toString();
}

/** Maximum characters of a message to a client. */
const mostCharacters = 1000;

/** Returns the message of an error for a client. A fault of the server is only in its log. */
export function publicMessageOf(error: unknown): string {
  if (isFault(error)) return "the server failed; its log has the reason";
  return shortText(messageOf(error), mostCharacters);
}

/** Returns true if an error is a fault of the server, and not of the request. */
export function isFault(error: unknown): boolean {
  return (
    !(error instanceof RequestError) &&
    !(error instanceof Error && "statusCode" in error && Number(error.statusCode) < 500)
  );
}

/** Returns a message without the folders of absolute paths: clients need not know where files of the server lie. */
export function withoutFolders(message: string): string {
  return message.replace(/(?:file:\/\/)?(?:\b[A-Za-z]:)?(?:[\\/][^\s\\/'"`:;,()]+)+[\\/]/g, "");
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
