import { ErrorStatus } from "@nnhal/types";
import { throwBroken } from "@nnhal/validation";
import { describe, expect, it } from "vitest";
import { settleAll } from "../versions/versions.test-helper.ts";
import { attempt, attemptAsync, closeSafely, refuseUnreadable } from "./attempt.ts";
import { messageOf } from "./refusal.ts";

const { GENERAL_FAILURE, INVALID_ARGUMENT } = ErrorStatus;

describe("attempt", () => {
  it("answers with the call's answer, or with why there is none", async () => {
    const fail = (): never => {
      throw new Error("planted");
    };
    const isSame = <Value>(value: Value) => value;
    expect(attempt<unknown>("it", () => 7, isSame)).toBe(7);
    const threw = { status: GENERAL_FAILURE, message: "it threw: planted" };
    expect(attempt<unknown>("it", fail, isSame)).toEqual(threw);
    expect(await attemptAsync<unknown>("it", async () => fail(), isSame)).toEqual(threw);
    expect(attempt<unknown>("it", () => throwBroken("answered 7"), isSame)).toEqual({
      status: GENERAL_FAILURE,
      message: "it answered 7",
    });
  });
});

describe("refuseUnreadable", () => {
  it("is the check's refusal, or says that the arguments cannot be read", () => {
    const refusal = { status: INVALID_ARGUMENT, message: "wrong" };
    expect(refuseUnreadable(() => undefined)).toBeUndefined();
    expect(refuseUnreadable(() => refusal)).toBe(refusal);
    const unread = refuseUnreadable(() => JSON.parse("{"));
    expect(unread).toMatchObject({
      status: INVALID_ARGUMENT,
      message: expect.stringContaining("the arguments cannot be read: "),
    });
  });
});

describe("closeSafely", () => {
  it("tells of what close throws or rejects with, and of nothing else", async () => {
    const log: string[] = [];
    closeSafely({}, (line) => log.push(line));
    closeSafely({ close: () => 5 }, (line) => log.push(line));
    closeSafely({ close: () => Promise.reject(new Error("gone")) }, (line) => log.push(line));
    await settleAll();
    expect(log).toEqual(["close threw: gone"]);
  });
});

describe("messageOf", () => {
  it("is cut after 1,000 characters, and never throws", () => {
    expect(messageOf(new Error("x".repeat(1000)))).toBe("x".repeat(1000));
    expect(messageOf("x".repeat(1001))).toBe(`${"x".repeat(1000)}…`);
    const unreadable = Object.create(null);
    expect(messageOf(unreadable)).toBe("an error that cannot be read");
  });
});
