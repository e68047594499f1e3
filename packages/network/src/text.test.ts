import { describe, expect, it } from "vitest";
import { oneLine, plain } from "./text.ts";

describe("text of files in messages", () => {
  it("makes names harmless", () => {
    expect(plain("a\x1b[31mb\u202e\tc\n")).toBe("a [31mb c");
    expect(oneLine("first\n   second\r\nthird")).toBe("first second third");
  });
});
