/** `nnhal-server`, over REST and gRPC, with and without its token. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startSource } from "@nnhal/test-kit/processes";
import { type TfliteTensor, writeTflite } from "@nnhal/tflite";
import { programOf } from "../programs.ts";
import { grpcKinds } from "../server/grpc-kinds.ts";
import { makeMixed } from "../server/mixed.ts";
import type { ServerAddress } from "../server/peers.ts";
import { restKinds } from "../server/rest-kinds.ts";
import { heapEnvironment, type Kind, type Surface, type Target } from "../surface.ts";
import { residentOf } from "../watch.ts";

const token = "secret";
/** Bytes of `--memory`, and of `--body-limit`. */
const [memory, bodyLimit] = [128 * 2 ** 20, 64 * 2 ** 20];

export const serverSurface = surfaceOf(
  "server",
  "nnhal-server: REST and gRPC",
  // Short, so that rounds that wait for it are short.
  2,
  (address) => [...restKinds(address), ...grpcKinds(address)],
);

/** With the default of `--arrival`: on a busy machine, honest requests arrive late, too. */
export const mixedSurface = surfaceOf(
  "mixed",
  "nnhal-server: honest clients among hostile ones",
  30,
  (address, pid) => [makeMixed(address, pid)],
);

/** Kinds of input for a server, and the process that it is. */
type KindsOf = (address: ServerAddress, pid: number | undefined) => readonly Kind[];

/** `arrival`: seconds of `--arrival`. */
function surfaceOf(name: string, says: string, arrival: number, kindsOf: KindsOf): Surface {
  return { name, says, start: () => start(arrival, kindsOf) };
}

async function start(arrival: number, kindsOf: KindsOf): Promise<Target> {
  const folder = mkdtempSync(join(tmpdir(), "nnhal-hostile-"));
  for (const [name, type] of [
    ["numbers", "FLOAT32"],
    ["strings", "STRING"],
  ] as const) {
    mkdirSync(join(folder, name, "1"), { recursive: true });
    writeFileSync(join(folder, name, "1", "model.tflite"), openModel(type));
  }
  const program = startSource(
    programOf("server"),
    [
      ...[folder, "--port", "0", "--grpc-port", "0", "--devices", "reference", "--dynamic-shapes"],
      // Waiting places for all honest clients of `mixed`: a refused request is then refused because of the hostile ones.
      ...["--queue", "256"],
      ...["--arrival", String(arrival), "--memory", String(memory), "--body-limit", String(bodyLimit)],
    ],
    { env: { ...heapEnvironment, NNHAL_SERVER_TOKEN: token } },
  );
  await program.says("ready ");
  await program.says("\n");
  const [, rest = "", grpc = ""] = /rest=http:\/\/(\S+) grpc=(\S+)/.exec(program.output.stdout) ?? [];
  const address: ServerAddress = { rest, grpc, token, arrival: arrival * 1000, bodyLimit };
  const idle = residentOf(program.child.pid) ?? 0;
  return {
    program,
    // SECURITY.md: the idle memory, 3 times --memory, and 256 MiB for reading and garbage.
    memoryLimit: idle + 3 * memory + 256 * 2 ** 20,
    async ask() {
      const response = await fetch(`http://${rest}/v2/health/live`);
      // On a machine that is busy enough, our own request may arrive too late.
      if (response.status !== 200 && response.status !== 408)
        throw new Error(`the health has the status ${response.status}`);
      await response.arrayBuffer();
    },
    kinds: kindsOf(address, program.child.pid),
    async close() {
      program.child.kill("SIGKILL");
      await program.ended;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** A model whose output is its input, of any number of rows of one element. */
export function openModel(type: TfliteTensor["type"]): Uint8Array {
  const tensor = (name: string): TfliteTensor => {
    return { name, type, isVariable: false, shape: [1, 1], shapeSignature: [-1, 1] };
  };
  return writeTflite({
    version: 3,
    description: "hostile",
    metadata: [],
    signatures: [],
    subgraphs: [
      {
        name: "main",
        tensors: [tensor("given"), tensor("passed")],
        inputs: [0],
        outputs: [1],
        operators: [{ name: "RESHAPE", version: 1, inputs: [0], outputs: [1], options: { newShape: [-1, 1] } }],
      },
    ],
  });
}
