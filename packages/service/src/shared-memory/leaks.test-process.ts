/** Makes and adopts memories, and counts the remaining resources. */
import { openSync, readdirSync, readFileSync } from "node:fs";
import { mapPool } from "@nnhal/driver-core/memory";
import { adoptMemory } from "./adopt.ts";
import { createSharedMemory } from "./shared-memory.ts";
import { answer } from "./start-peer.test-helper.ts";

const count = () => ({
  descriptors: readdirSync("/proc/self/fd").length,
  mappings: readFileSync("/proc/self/maps", "utf8").split("memfd:nnhal").length - 1,
});

/** A separate function, because the last memories of a loop stay reachable from its stack frame. */
function useOnce(): void {
  const memory = createSharedMemory(65_536);
  if ("refused" in memory) throw new Error(memory.refused);
  const adopted = adoptMemory(openSync(`/proc/self/fd/${memory.handle.fd}`, "r+"), 65_536);
  if ("refused" in adopted) throw new Error(adopted.refused);
  for (const one of [memory, adopted]) {
    const mapping = mapPool(one);
    if ("bytes" in mapping) mapping.bytes[0] = 1;
  }
}

answer({
  async makeMany(many: number) {
    const before = count();
    for (let index = 0; index < many; index++) useOnce();
    let after = count();
    for (
      let turn = 0;
      turn < 200 && (after.mappings > before.mappings || after.descriptors > before.descriptors);
      turn++
    ) {
      globalThis.gc?.();
      await new Promise((resolve) => setTimeout(resolve, 2));
      after = count();
    }
    return {
      descriptors: after.descriptors - before.descriptors,
      mappings: after.mappings - before.mappings,
    };
  },
});
