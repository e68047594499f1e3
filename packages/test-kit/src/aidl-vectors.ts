/** The vectors of AIDL on the device of a backend. The kit's functions are arguments, since the kit's own tests import this package. */
import { existsSync } from "node:fs";
import type { Device } from "@nnhal/types";
import { aidlVectorsFolder } from "./folders.ts";

/** The functions of @nnhal/conformance that run vectors. */
interface Kit<Files, Examples, Results> {
  findVectorFiles(folder: string): Promise<Files>;
  readVectorFiles(files: Files): Examples;
  runVectors(device: Device, examples: Examples): Results;
  summarise(results: Results): Promise<Counts & { readonly failures: readonly { name: string; reason?: string }[] }>;
}

interface Counts {
  readonly passed: number;
  readonly failed: number;
  readonly unsupported: number;
}

/**
 * Runs all vectors of AIDL on a device. Returns how many passed, failed and were refused, and what was wrong with those that failed. `skip` ends the
 * test if there is none.
 */
export async function runAidlVectors<Files, Examples, Results>(
  { findVectorFiles, readVectorFiles, runVectors, summarise }: Kit<Files, Examples, Results>,
  open: () => Promise<Device>,
  skip: (condition: boolean, note: string) => void,
): Promise<Counts & { readonly wrong: readonly string[] }> {
  skip(
    !existsSync(aidlVectorsFolder),
    `there are no vectors at ${aidlVectorsFolder}; set NNHAL_VECTORS_AIDL to their folder`,
  );
  const examples = readVectorFiles(await findVectorFiles(aidlVectorsFolder));
  const { passed, failed, unsupported, failures } = await summarise(runVectors(await open(), examples));
  return { passed, failed, unsupported, wrong: failures.map(({ name, reason }) => `${name}: ${reason}`) };
}
