/**
 * The frames before the protocol, by which both sides agree how memories cross: as descriptors over a separate socket, or copied.
 * A client names the secret of its socket for descriptors; the service answers whether it has taken it.
 */

const magic = Uint8Array.from(new TextEncoder().encode("nnhal-service"));
const version = 1;
const secretLength = 16;
const longestReason = 1024;

/** The client's first frame. No secret: memories are copied. */
export interface Greeting {
  readonly secret: Uint8Array | undefined;
}

/**
 * The service's answer: memories are passed as descriptors, or are copied, or the client is refused, each with the
 * reason.
 */
export interface Reply {
  readonly kind: "shared" | "copied" | "refused";
  /** Empty if they are shared. */
  readonly reason: string;
}

const kinds = ["shared", "copied", "refused"] as const;

/** Throws RangeError for a secret of another length than 16 bytes. */
export function encodeGreeting({ secret }: Greeting): Uint8Array {
  if (secret !== undefined && secret.length !== secretLength) {
    throw new RangeError(`a secret: expected ${secretLength} bytes, got ${secret.length}`);
  }
  return frameOf(secret === undefined ? 0 : 1, secret ?? new Uint8Array(0));
}

/** The greeting in a frame; undefined if the frame is not one. */
export function decodeGreeting(bytes: Uint8Array): Greeting | undefined {
  const content = contentOf(bytes);
  if (content === undefined) return undefined;
  if (content.code === 0 && content.rest.length === 0) return { secret: undefined };
  return content.code === 1 && content.rest.length === secretLength ? { secret: content.rest } : undefined;
}

export function encodeReply({ kind, reason }: Reply): Uint8Array {
  return frameOf(kinds.indexOf(kind), new TextEncoder().encode(reason).subarray(0, longestReason));
}

/** The reply in a frame; undefined if the frame is not one. */
export function decodeReply(bytes: Uint8Array): Reply | undefined {
  const content = contentOf(bytes);
  const kind = content && kinds[content.code];
  if (content === undefined || kind === undefined || content.rest.length > longestReason) return undefined;
  return { kind, reason: new TextDecoder().decode(content.rest) };
}

function frameOf(code: number, rest: Uint8Array): Uint8Array {
  const frame = new Uint8Array(magic.length + 2 + rest.length);
  frame.set(magic);
  frame[magic.length] = version;
  frame[magic.length + 1] = code;
  frame.set(rest, magic.length + 2);
  return frame;
}

function contentOf(bytes: Uint8Array): { readonly code: number; readonly rest: Uint8Array } | undefined {
  if (bytes.length < magic.length + 2 || !magic.every((byte, index) => bytes[index] === byte)) return undefined;
  if (bytes[magic.length] !== version) return undefined;
  return { code: bytes[magic.length + 1] ?? 0, rest: bytes.slice(magic.length + 2) };
}
