/** Inputs in files: a line for each, with its name and its bytes in base64. */
import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** A named input. */
export interface Case {
  readonly name: string;
  /** Fault of a found case before it was mended. */
  readonly says?: string | undefined;
  readonly bytes: Uint8Array;
}

/** Where the inputs of a target lie: those that the fuzzer starts with, and those that found something. */
export function pathOfCases(kind: "corpus" | "found", target: string): string {
  return fileURLToPath(new URL(`../${kind}/${target}.jsonl`, import.meta.url));
}

/** The inputs of a target; none if there is no file. */
export function readCases(kind: "corpus" | "found", target: string): Case[] {
  const path = pathOfCases(kind, target);
  if (!existsSync(path)) return [];
  const lines = readFileSync(path, "utf8").split("\n");
  return lines.filter((line) => line !== "").map(caseOfLine);
}

function caseOfLine(line: string): Case {
  // The files are part of this tool.
  const { name, says, base64 } = JSON.parse(line) as { name: string; says?: string; base64: string };
  return { name, says, bytes: new Uint8Array(Buffer.from(base64, "base64")) };
}

/** The line of a case. */
export function lineOfCase({ name, says, bytes }: Case): string {
  return JSON.stringify({ name, says, base64: Buffer.from(bytes).toString("base64") });
}
