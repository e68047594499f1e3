/**
 * The gate's part of the matrix: one processor without VNNI, on which products of bytes saturate in 16 bits. It is emulated, since the
 * machines of developers have VNNI. `npm run processors` runs all processors, and more on each.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { findEmulators } from "./emulators.ts";
import { faultsFolder } from "./folders.ts";
import { launchOn, runProcess } from "./launch.ts";
import { levels } from "./levels.ts";
import { rowOf } from "./matrix.ts";
import { prepare } from "./prepare.ts";
import { emulated, mismatch, reasonAgainst } from "./processors.ts";
import { problemsOf } from "./table.ts";

const root = fileURLToPath(new URL("../../../", import.meta.url));
const haswell = emulated.find(({ name }) => name === "Haswell");

it("ort is right on a processor with AVX2 and without VNNI", { timeout: 600_000 }, async ({ skip }) => {
  if (haswell === undefined) throw new Error("no Haswell");
  const machine = findEmulators();
  const reason = reasonAgainst(haswell, machine);
  skip(reason !== undefined, `Haswell cannot be emulated: ${reason}`);
  const cache = join(root, "node_modules/.cache/nnhal-processors");
  mkdirSync(cache, { recursive: true });
  const folder = mkdtempSync(join(cache, "gate-"));
  try {
    const { program, plan } = await prepare(root, folder, levels.gate, faultsFolder);
    const path = join(folder, "plan.json");
    writeFileSync(path, JSON.stringify(plan));
    const ran = await runProcess(
      launchOn(haswell, machine, folder, undefined),
      [program, path],
      levels.gate.limit * 1000,
    );
    const row = rowOf(haswell.name, haswell.what, ran);
    expect(problemsOf(row)).toEqual([]);
    expect(row.facts && mismatch(haswell, row.facts)).toBeUndefined();
    const [ort] = row.engines ?? [];
    expect(ort).toMatchObject({ engine: "ort", checks: { convolutions: { failed: 0 } } });
    expect(ort?.checks.convolutions?.passed).toBeGreaterThan(25);
    // Without the folder of files there are none.
    if (plan.networks.length > 0)
      expect(ort?.checks.networks).toEqual({ passed: 6, failed: 0, skipped: 0, problems: [] });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
