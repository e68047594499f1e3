/**
 * TensorFlow Lite as a command. It is not part of this repository: NNHAL_TFLITE_ORACLE names a folder with `oracle.mjs`, and
 * NNHAL_TFLITE_BUILDS the folder into which its `setup.sh` has installed TensorFlow Lite's builds.
 * `node oracle.mjs BUILDS MODEL OUT --engine NAME INPUT...` writes `OUT/out0.bin` and so on.
 */
import { execFile } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const beside = (path: string) => fileURLToPath(new URL(`../../../../${path}`, import.meta.url));

const command = join(process.env.NNHAL_TFLITE_ORACLE ?? beside("shared/tools/tflite-oracle"), "oracle.mjs");
export const builds = process.env.NNHAL_TFLITE_BUILDS ?? beside("oracle");

/** The builds of TensorFlow Lite: with XNNPACK, and an older one. */
export const oracleEngines = ["litert", "tfjs"] as const;
export type OracleEngine = (typeof oracleEngines)[number];

/** Why there is no TensorFlow Lite to compare with; undefined if there is. */
export function oracleAbsence(): string | undefined {
  if (!existsSync(command))
    return `${command} does not exist: set NNHAL_TFLITE_ORACLE to the folder that has oracle.mjs`;
  if (!existsSync(join(builds, "litert")))
    return `${builds} has no TensorFlow Lite: run setup.sh FOLDER beside oracle.mjs, and set NNHAL_TFLITE_BUILDS to that folder`;
  return undefined;
}

/** Computes inputs with TensorFlow Lite: returns the bytes of each output, or why it does not run the model. */
export async function runOracle(
  engine: OracleEngine,
  model: Uint8Array,
  inputs: readonly Uint8Array[],
  outputs: number,
): Promise<readonly Uint8Array[] | string> {
  const folder = mkdtempSync(join(tmpdir(), "nnhal-oracle-"));
  try {
    const file = join(folder, "model.tflite");
    writeFileSync(file, model);
    const files = inputs.map((bytes, place) => {
      const name = join(folder, `given${place}.bin`);
      writeFileSync(name, bytes);
      return name;
    });
    const args = [command, builds, file, join(folder, "out"), "--engine", engine, ...files];
    await promisify(execFile)(process.execPath, args, { timeout: 120_000 });
    return Array.from(
      { length: outputs },
      (_, place) => new Uint8Array(readFileSync(join(folder, "out", `out${place}.bin`))),
    );
  } catch (error) {
    const text = error instanceof Error && "stderr" in error ? String(error.stderr) : String(error);
    return (
      text
        .trim()
        .split("\n")
        .findLast((line) => line.includes("rror") || line.trim() !== "")
        ?.trim() ?? "it failed"
    );
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
