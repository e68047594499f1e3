import { changePart, listRules } from "@nnhal/test-kit/models";
import { halVersions, type Memory } from "@nnhal/types";
import { describe, expect, it } from "vitest";
import { poolIssues, validatePool } from "./index.ts";

const buffer = new ArrayBuffer(64);
const memory: Memory = { name: "ashmem", size: 60, handle: { kind: "buffer", buffer, byteOffset: 4 } };
const file: Memory = {
  name: "mmap_fd",
  size: 60,
  handle: { kind: "fileDescriptor", fd: 3, protection: 1, offset: 2 ** 40 },
};

function issuesOf(path: string, value: unknown, whole = memory): string[] {
  return listRules(poolIssues(changePart(whole, path, value)));
}

describe("a pool", () => {
  it.each([
    ["ashmem", "1.0"],
    ["mmap_fd", "1.0"],
    ["hardware_buffer_blob", "1.2"],
    ["hardware_buffer", "1.2"],
  ])("may be named %s since HAL %s", (name, since) => {
    for (const version of halVersions) expect(validatePool({ ...memory, name }, version)).toBe(version >= since);
  });

  it("has no other name", () => {
    for (const name of ["", "Ashmem", "ashmem ", "__proto__", undefined, null, 5]) {
      expect(issuesOf("name", name)).toEqual(["model-pool pool.name"]);
    }
  });

  it("has a whole number of bytes", () => {
    for (const size of [0, 1, 60]) expect(issuesOf("size", size)).toEqual([]);
    for (const size of [-1, 0.5, Number.NaN, Number.POSITIVE_INFINITY, "1", undefined]) {
      expect(issuesOf("size", size)).toEqual(["model-pool pool.size"]);
    }
  });

  it("is not longer than the memory of its handle", () => {
    expect(issuesOf("size", 61)).toEqual(["model-pool pool.handle"]);
    expect(issuesOf("handle.byteOffset", 0)).toEqual([]);
    for (const byteOffset of [5, -1, 0.5, Number.NaN]) {
      expect(issuesOf("handle.byteOffset", byteOffset)).toEqual(["model-pool pool.handle"]);
    }
    const shared = { ...memory, handle: { kind: "buffer", buffer: new SharedArrayBuffer(64), byteOffset: 4 } } as const;
    expect(poolIssues(shared)).toEqual([]);
    expect(issuesOf("size", 61, shared)).toEqual(["model-pool pool.handle"]);
  });

  it("has a handle", () => {
    for (const handle of [null, undefined, 7, {}, { kind: "other" }]) {
      expect(issuesOf("handle", handle)).toEqual(["model-pool pool.handle"]);
    }
    for (const wrong of [null, new Uint8Array(64), { byteLength: 64 }]) {
      expect(issuesOf("handle.buffer", wrong)).toEqual(["model-pool pool.handle"]);
    }
  });

  it("may lie in a file", () => {
    expect(poolIssues(file)).toEqual([]);
    for (const [field, wrong] of [
      ["fd", -1],
      ["fd", 0.5],
      ["offset", -1],
      ["offset", Number.NaN],
      ["protection", -1],
      ["protection", undefined],
    ] as const) {
      expect(issuesOf(`handle.${field}`, wrong, file)).toEqual(["model-pool pool.handle"]);
    }
  });

  it("of a request is a memory or a token", () => {
    expect(poolIssues({ kind: "memory", memory })).toEqual([]);
    expect(poolIssues({ kind: "token", token: 1 })).toEqual([]);
    expect(validatePool({ kind: "token", token: 0 })).toBe(false);
    expect(validatePool({ kind: "token", token: 1 }, "1.2")).toBe(false);
    expect(validatePool({ kind: "memory", memory: { ...memory, handle: null } })).toBe(false);
  });

  it("is an object", () => {
    for (const garbage of [null, undefined, "ashmem"]) {
      const { pool } = changePart({ pool: memory }, "pool", garbage);
      expect(listRules(poolIssues(pool))).toEqual(["model-pool pool"]);
    }
  });
});
