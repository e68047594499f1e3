/**
 * Pictures of Graphviz text as PNG, by Graphviz's own program.
 */
import { spawn } from "node:child_process";
import { failure } from "./failure.ts";
import { oneLine } from "./text.ts";

/** A PNG file. Rejects with a failure if the program is missing, or cannot draw the graph. */
export function renderPng(dot: string, program = "dot"): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, ["-Tpng"], { stdio: ["pipe", "pipe", "pipe"] });
    const output: Buffer[] = [];
    let problems = "";
    child.stdout.on("data", (chunk: Buffer) => output.push(chunk));
    child.stderr.on("data", (chunk: Buffer) => {
      problems += chunk.toString();
    });
    child.once("error", (error) => reject(failure(`PNG needs Graphviz: ${whyNotStarted(program, error)}`, error)));
    // A program that ends early does not read to the end; its exit code says so.
    child.stdin.on("error", () => {});
    child.once("close", (code) => {
      if (code === 0) resolve(new Uint8Array(Buffer.concat(output)));
      else reject(failure(`Graphviz cannot draw the graph: ${oneLine(problems) || `${program} ended with ${code}`}`));
    });
    child.stdin.end(dot);
  });
}

function whyNotStarted(program: string, error: Error): string {
  const isMissing = "code" in error && error.code === "ENOENT";
  return isMissing
    ? `its program ${program} is not installed; SVG can be drawn without it`
    : `starting its program ${program} failed: ${oneLine(error.message)}`;
}
