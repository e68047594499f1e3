import { describe, expect, it } from "vitest";
import { whyNotLoaded } from "./backend-module.ts";

describe("a module that cannot be loaded", () => {
  const refuse = (code: string) => Object.assign(new Error(`no\n${code}`), { code });

  it("is told how to be built if it is TypeScript that this Node.js does not read", () => {
    for (const code of ["ERR_UNKNOWN_FILE_EXTENSION", "ERR_UNSUPPORTED_NODE_MODULES_TYPE_STRIPPING"]) {
      const said = whyNotLoaded("file:///project/my-backend.ts", refuse(code));
      expect(said).toContain("does not read TypeScript there. Node.js 22.18 and newer does");
      expect(said).toMatch(/: npx esbuild my-backend\.ts .* --outfile=my-backend\.js$/);
    }
    expect(whyNotLoaded("file:///a.mts", refuse("ERR_UNKNOWN_FILE_EXTENSION"))).toContain("--outfile=a.js");
  });

  it("is told what Node.js says in all other cases", () => {
    expect(whyNotLoaded("file:///a.ts", refuse("ERR_MODULE_NOT_FOUND"))).toBe("no ERR_MODULE_NOT_FOUND");
    expect(whyNotLoaded("file:///a.wasm", refuse("ERR_UNKNOWN_FILE_EXTENSION"))).toBe("no ERR_UNKNOWN_FILE_EXTENSION");
    expect(whyNotLoaded("file:///a.ts", "text")).toBe("text");
  });
});
