#!/usr/bin/env node
/** The command `create-nnhal`, which `npm create nnhal` runs. */
import { createInterface } from "node:readline/promises";
import { runProgram } from "./program.ts";

async function ask(question: string): Promise<string> {
  const lines = createInterface({ input: process.stdin, output: process.stdout });
  // Without it, a question would never be answered once the input has ended.
  const ended = new Promise<never>((_, reject) => {
    lines.once("close", () => reject(new Error("the input ended before the answer")));
  });
  try {
    return (await Promise.race([lines.question(question), ended])).trim();
  } finally {
    lines.close();
  }
}

process.exitCode = await runProgram(process.argv.slice(2), {
  cwd: process.cwd(),
  print: (line) => console.log(line),
  complain: (line) => console.error(line),
  ask: process.stdin.isTTY && process.stdout.isTTY ? ask : undefined,
});
