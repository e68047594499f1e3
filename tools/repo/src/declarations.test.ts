import { expect, test } from "vitest";
import { withoutSources } from "./declarations.ts";

test("relative imports of a declaration name declarations; all else stays", () => {
  const declaration = `
    import type { A } from "./a.ts";
    export * from "../b/index.ts";
    export declare const c: import("./c.ts").C;
    export type { D } from "@nnhal/d.ts";
    export declare const file: "./e.ts";`;
  expect(withoutSources(declaration)).toBe(`
    import type { A } from "./a.js";
    export * from "../b/index.js";
    export declare const c: import("./c.js").C;
    export type { D } from "@nnhal/d.ts";
    export declare const file: "./e.ts";`);
});
