/** What can go wrong with a request, and how both protocols say it. */
import { status } from "@grpc/grpc-js";

const kinds = {
  /** The request breaks a rule of the protocol, or does not fit the model. */
  invalid: { http: 400, grpc: status.INVALID_ARGUMENT },
  unauthorized: { http: 401, grpc: status.UNAUTHENTICATED },
  unknown: { http: 404, grpc: status.NOT_FOUND },
  tooLarge: { http: 413, grpc: status.RESOURCE_EXHAUSTED },
  /** The device cannot compute these inputs, whose open extents the server cannot judge. */
  unprocessable: { http: 422, grpc: status.INVALID_ARGUMENT },
  /** The model has as much to do as it may have. */
  busy: { http: 429, grpc: status.RESOURCE_EXHAUSTED },
  cancelled: { http: 499, grpc: status.CANCELLED },
  failed: { http: 500, grpc: status.INTERNAL },
  /** The model or the server is not ready. */
  unavailable: { http: 503, grpc: status.UNAVAILABLE },
  late: { http: 504, grpc: status.DEADLINE_EXCEEDED },
} as const;

/** What kind of error it is. */
export type ErrorKind = keyof typeof kinds;

/** The error of a request. */
export class RequestError extends Error {
  override readonly name = "RequestError";
  readonly kind: ErrorKind;
  /** Seconds after which another try is worth while. */
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

  get grpcStatus(): status {
    return kinds[this.kind].grpc;
  }
}

/** Throws that a request is not valid, unless a condition holds. */
export function expectValid(condition: boolean, message: () => string): asserts condition {
  if (!condition) throw new RequestError("invalid", message());
}

/** A value of JSON for a message: its text, at most 80 characters of it. */
export function valueText(value: unknown): string {
  try {
    return (JSON.stringify(value) ?? String(value)).slice(0, 80);
  } catch {
    // JSON is read without recursion, but written with it.
    return "a value of too many lists or objects inside each other";
  }
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
