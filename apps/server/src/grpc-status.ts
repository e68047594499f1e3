/** Statuses of gRPC, and their encoding in the trailers of a call. */

/** The codes that the server uses. */
export const status = {
  OK: 0,
  CANCELLED: 1,
  INVALID_ARGUMENT: 3,
  DEADLINE_EXCEEDED: 4,
  NOT_FOUND: 5,
  PERMISSION_DENIED: 7,
  RESOURCE_EXHAUSTED: 8,
  UNIMPLEMENTED: 12,
  INTERNAL: 13,
  UNAVAILABLE: 14,
  UNAUTHENTICATED: 16,
} as const;

/** Bytes of details in trailers. Many clients refuse headers of more than 8 KiB in all. */
const mostBytes = 2048;

/** Encodes details for trailers: UTF-8, percent-encoded, and short, whatever the text is. Characters are never cut. */
export function encodeDetails(text: string): string {
  let encoded = "";
  for (const character of text) {
    const next = /^[ -$&-~]$/.test(character) ? character : percentEncode(character);
    if (encoded.length + next.length > mostBytes) return encoded;
    encoded += next;
  }
  return encoded;
}

function percentEncode(character: string): string {
  // Half a character becomes U+FFFD.
  return Array.from(Buffer.from(character), (byte) => `%${byte.toString(16).toUpperCase().padStart(2, "0")}`).join("");
}
