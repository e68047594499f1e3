import { describe, expect, it } from "vitest";
import { decodeGreeting, decodeReply, encodeGreeting, encodeReply } from "./greeting.ts";

const secret = Uint8Array.from({ length: 16 }, (_, index) => index);

describe("a greeting", () => {
  it("is read as it was written", () => {
    expect(decodeGreeting(encodeGreeting({ secret }))).toEqual({ secret });
    expect(decodeGreeting(encodeGreeting({ secret: undefined }))).toEqual({ secret: undefined });
  });

  it("is refused if anything differs", () => {
    const right = encodeGreeting({ secret });
    for (let length = 0; length < right.length; length++) {
      expect(decodeGreeting(right.subarray(0, length))).toBeUndefined();
    }
    expect(decodeGreeting(Uint8Array.of(...right, 0))).toBeUndefined();
    // The letters, the version and the kind.
    for (let at = 0; at < right.length - secret.length; at++) {
      const other = Uint8Array.from(right);
      other[at] = 200;
      expect(decodeGreeting(other)).toBeUndefined();
    }
    expect(() => encodeGreeting({ secret: new Uint8Array(15) })).toThrow("a secret: expected 16 bytes, got 15");
  });
});

describe("a reply", () => {
  it.each([
    { kind: "shared", reason: "" },
    { kind: "copied", reason: "no koffi" },
    { kind: "refused", reason: "füll" },
  ] as const)("is read as it was written: %o", (reply) => {
    expect(decodeReply(encodeReply(reply))).toEqual(reply);
  });

  it("has a short reason, and a kind that is known", () => {
    expect(decodeReply(encodeReply({ kind: "copied", reason: "x".repeat(5000) }))?.reason).toHaveLength(1024);
    const reply = encodeReply({ kind: "copied", reason: "" });
    reply[reply.length - 1] = 3;
    expect(decodeReply(reply)).toBeUndefined();
    expect(decodeReply(new Uint8Array(0))).toBeUndefined();
  });
});
