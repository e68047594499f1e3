/**
 * Rules on pools (35, 50): a name that the HAL version knows, a handle, and memory as long as the pool's size.
 */
import {
  type HalVersion,
  type Memory,
  type MemoryHandle,
  newestHalVersion,
  type RequestMemoryPool,
} from "@nnhal/types";
import { collectIssues, type Issue, type IssueList, show } from "./issues.ts";
import type { RuleCode } from "./rules.ts";
import { isBuffer, isObject, isUint32 } from "./structure.ts";

/** The HAL version that a pool needs. */
interface SoundPool {
  readonly since: HalVersion;
  readonly what: string;
}

/** The rule that a pool breaks, or the HAL version that it needs. */
type PoolFacts = SoundPool | { readonly problem: string; readonly field: string };

/** The HAL version that introduced each kind of memory. */
const memoryNames: ReadonlyMap<string, SoundPool> = new Map([
  ["ashmem", { since: "1.0", what: "ashmem memory" }],
  ["mmap_fd", { since: "1.0", what: "mmap_fd memory" }],
  ["hardware_buffer_blob", { since: "1.2", what: "hardware_buffer_blob memory" }],
  ["hardware_buffer", { since: "1.2", what: "hardware_buffer memory" }],
]);

const tokens: SoundPool = { since: "1.3", what: "pools given by token" };

/** The rule that a memory breaks, or the HAL version that its name needs. */
export function memoryFacts(memory: Memory | undefined): PoolFacts {
  if (!isObject(memory)) return { problem: `the pool: expected a memory, got ${show(memory)}`, field: "" };
  const sound = memoryNames.get(memory.name);
  if (sound === undefined) {
    const names = [...memoryNames.keys()].join(", ");
    return { problem: `the name of the memory: expected one of ${names}, got ${show(memory.name)}`, field: ".name" };
  }
  if (sizeOfMemory(memory) === undefined) {
    return { problem: `the size: expected a whole number of bytes, got ${show(memory.size)}`, field: ".size" };
  }
  const problem = handleProblem(memory.handle, memory.size);
  if (problem !== undefined) return { problem: `the ${memory.name} memory ${problem}`, field: ".handle" };
  return sound;
}

function handleProblem(handle: MemoryHandle | null, size: number): string | undefined {
  if (!isObject(handle)) return `has handle ${show(handle)}`;
  switch (handle.kind) {
    case "buffer": {
      if (!isBuffer(handle.buffer)) return `has an invalid buffer: expected an ArrayBuffer, got ${show(handle.buffer)}`;
      const { byteOffset, buffer } = handle;
      const fits = Number.isSafeInteger(byteOffset) && byteOffset >= 0 && byteOffset + size <= buffer.byteLength;
      if (fits) return undefined;
      return `has size ${size} from byte ${show(byteOffset)} of a buffer of ${buffer.byteLength} bytes`;
    }
    case "fileDescriptor": {
      const { fd, offset, protection } = handle;
      if (!isUint32(fd)) return `has file descriptor ${show(fd)}`;
      if (!Number.isSafeInteger(offset) || offset < 0) return `has offset ${show(offset)} in its file`;
      return isUint32(protection) ? undefined : `has protection ${show(protection)}`;
    }
    case "hardwareBuffer": {
      if (!isObject(handle.description)) return `has description ${show(handle.description)}`;
      const { content } = handle;
      if (!isObject(content) || !["buffer", "fileDescriptor"].includes(content.kind)) {
        return `has invalid content: expected a buffer or a file descriptor, got ${show(content)}`;
      }
      return handleProblem(content, size);
    }
    default:
      handle satisfies never;
      return "has a handle of unknown kind";
  }
}

/** A memory's size in bytes; undefined if the value is not a size. */
export function sizeOfMemory(memory: Memory | undefined): number | undefined {
  if (!isObject(memory)) return undefined;
  const { size } = memory;
  return Number.isSafeInteger(size) && size >= 0 ? size : undefined;
}

/** The rule that a request's pool breaks, or the HAL version that it needs. */
function requestPoolFacts(pool: RequestMemoryPool | undefined): PoolFacts {
  if (!isObject(pool)) return { problem: `the pool: expected a pool, got ${show(pool)}`, field: "" };
  switch (pool.kind) {
    case "memory": {
      const facts = memoryFacts(pool.memory);
      return "problem" in facts ? { ...facts, field: `.memory${facts.field}` } : facts;
    }
    case "token":
      if (isUint32(pool.token) && pool.token > 0) return tokens;
      return { problem: `the token: expected a number > 0, got ${show(pool.token)}`, field: ".token" };
    default:
      return { problem: "the pool is neither a memory nor a token", field: ".kind" };
  }
}

/** Checks a request's pool. `at`: its index in the request, or its path. */
export function checkRequestPool(
  issues: IssueList,
  pool: RequestMemoryPool | undefined,
  version: HalVersion,
  at: number | string,
): void {
  const facts = requestPoolFacts(pool);
  if (!("problem" in facts) && facts.since <= version) return;
  addPoolIssue(issues, "request-pool", facts, version, typeof at === "number" ? `pools[${at}]` : at);
}

function addPoolIssue(issues: IssueList, code: RuleCode, facts: PoolFacts, version: HalVersion, path: string): void {
  if ("problem" in facts) issues.add(code, `${path}${facts.field}`, facts.problem);
  else if (facts.since > version)
    issues.add(code, path, `${facts.what} exist since HAL ${facts.since}, not in ${version}`);
}

/** The rules that a pool of a model (a memory) or of a request breaks on its own; none for a valid one. */
export function poolIssues(pool: Memory | RequestMemoryPool, version: HalVersion = newestHalVersion): Issue[] {
  return collectIssues("pool", undefined, (issues) => {
    if (isObject(pool) && "kind" in pool) checkRequestPool(issues, pool, version, "pool");
    else addPoolIssue(issues, "model-pool", memoryFacts(pool), version, "pool");
  });
}

/** Returns whether a pool of a model (a memory) or of a request is valid (rules 35 and 50). */
export function validatePool(pool: Memory | RequestMemoryPool, version: HalVersion = newestHalVersion): boolean {
  try {
    const facts = isObject(pool) && "kind" in pool ? requestPoolFacts(pool) : memoryFacts(pool);
    return !("problem" in facts) && facts.since <= version;
  } catch {
    return false;
  }
}
