/** A process whose last look at a file was at a socket, which it removed with its folder: it prints whether it finds koffi. */
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemLibrary } from "./system-library.ts";

const folder = mkdtempSync(join(tmpdir(), "nnhal-socket-"));
const server = createServer().listen(join(folder, "socket"), () => {
  rmSync(folder, { recursive: true });
  const library = systemLibrary();
  console.log("missing" in library ? library.missing : "found");
  server.close();
});
