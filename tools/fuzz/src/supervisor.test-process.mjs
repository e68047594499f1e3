/**
 * Stands for the process that runs inputs: its files describe its behaviour. Plain JavaScript, since it is started several
 * times.
 */
import { readFileSync, writeFileSync } from "node:fs";

/** @type {import("./protocol.ts").Task} */
const task = JSON.parse(process.argv[2] ?? "");

for (const [index, file] of (task.files ?? []).entries()) {
  const bytes = readFileSync(file);
  const head = Buffer.alloc(12);
  head.writeUInt32LE(index + 1, 0);
  head.writeUInt32LE(bytes.length, 4);
  head.writeUInt32LE(bytes.toString() === "late" ? 1 : 0, 8);
  writeFileSync(task.stateFile, Buffer.concat([head, bytes]));
  switch (bytes.toString()) {
    case "block":
    case "late":
      for (;;);
    case "exit":
      process.exit(3);
      break;
    case "silent":
      await new Promise((resolve) => setTimeout(resolve, 2 ** 30));
      break;
    case "wrong":
      process.send?.({ kind: "found", key: "k", message: "it is wrong", file, base64: bytes.toString("base64") });
  }
}
process.send?.({ kind: "done", executions: task.files?.length ?? 0, reached: [7] }, () => process.exit(0));
