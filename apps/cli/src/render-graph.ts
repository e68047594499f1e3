/**
 * Pictures of Graphviz text. SVG by a Graphviz in WebAssembly, a package that is found when it is asked for; PNG, which
 * that cannot draw, by Graphviz's own program.
 */
import { spawn } from "node:child_process";
import type { RenderOptions, RenderResult } from "@viz-js/viz";
import { failure, loadPackage } from "./failure.ts";
import { oneLine } from "./text.ts";

/** What is used of the package. */
export interface Viz {
  render(dot: string, options: RenderOptions): RenderResult;
}

/** Monospaced: where the viewer has another such font, its letters are as wide, and labels still fit their boxes. */
const style = { fontname: "Courier", fontsize: 10 };

/** An SVG document. Rejects with a failure if the package is missing, or cannot draw the graph. */
export async function renderSvg(dot: string, load: () => Promise<Viz> = loadViz): Promise<string> {
  const viz = await loadPackage("@viz-js/viz", "SVG", load);
  const result = viz.render(dot, {
    format: "svg",
    graphAttributes: { ranksep: 0.3, ...style },
    nodeAttributes: style,
    edgeAttributes: style,
  });
  if (result.status === "success") return result.output;
  const messages = result.errors.map(({ message }) => oneLine(message)).join("; ");
  throw failure(`Graphviz cannot draw the graph: ${messages}`);
}

async function loadViz(): Promise<Viz> {
  return (await import("@viz-js/viz")).instance();
}

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
