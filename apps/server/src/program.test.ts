/** The command line, in this process: refusals, the start and the end. */
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { request } from "node:https";
import { createServer } from "node:net";
import { join } from "node:path";
import { credentials, status } from "@grpc/grpc-js";
import { afterAll, expect, it } from "vitest";
import { grpcClient } from "./client.test-helper.ts";
import { folderOf, passingModel, removeFolders } from "./models.test-helper.ts";
import { parseOptions } from "./options.ts";
import { runServer } from "./program.ts";

afterAll(removeFolders);

/** Runs a server, which ends when `whileReady` has. */
async function run(args: readonly string[], { env = {}, whileReady = async (_: string) => {}, signals = 1 } = {}) {
  const written = { stdout: "", stderr: "", exits: [] as number[] };
  let signal: (name: NodeJS.Signals) => void = () => {};
  const code = await runServer({
    ...{ args, env, cwd: "/", version: "1.2.3" },
    stdout(text) {
      written.stdout += text;
      if (text.startsWith("ready ")) {
        void whileReady(text).then(() => {
          for (let count = 0; count < signals; count++) signal("SIGTERM");
        });
      }
    },
    stderr(text) {
      written.stderr += text;
    },
    onSignal(listener) {
      signal = listener;
    },
    exit: (status) => written.exits.push(status),
  });
  return { code, ...written };
}

it("prints its help and its version", async () => {
  const help = await run(["--help"]);
  expect(help).toMatchObject({ code: 0, stderr: "" });
  expect(help.stdout).toContain("Exit codes: 0 the server was ended by a signal; 1 it cannot work, or");
  expect(await run(["--version"])).toMatchObject({ code: 0, stdout: "1.2.3\n" });
});

it.each([
  [[], "missing required argument 'models'"],
  [["a", "b"], "too many arguments"],
  [["a", "--instances", "0"], "Expected an integer from 1 to 256; see nnhal-server --help"],
  [["a", "--versions", "newest"], "Expected latest, latest:N, all, or numbers"],
  [["a", "--port", "65536"], "Expected an integer from 0 to 65535; see nnhal-server --help"],
  [["a", "--tls-cert", "b"], "--tls-cert and --tls-key belong together"],
  [["a", "--memory", "1999", "--body-limit", "2000"], "--memory must be at least --body-limit (2000), got 1999"],
  [["a", "--memory", "1000000"], "--memory must be at least --body-limit (67108864), got 1000000"],
  [["a", "--no-rest", "--no-grpc"], "leave nothing to serve"],
  [["a", "--driver", "b", "--engine", "c"], "--engine is for threads"],
])("refuses %j", async (args, message) => {
  const { code, stderr, stdout } = await run(args);
  expect(stderr).toContain(message);
  expect([code, stdout]).toEqual([2, ""]);
});

it("takes its options", () => {
  const parsed = parseOptions(["a", "--max-batch", "8", "--timeout", "0.5", "--load", "x,y", "--no-grpc"], "1");
  expect(parsed).toMatchObject({
    settings: {
      ...{ path: "a", load: ["x", "y"], timeout: 500, grpcPort: undefined, restPort: 8000, host: "127.0.0.1" },
      model: { maxBatch: 8, instances: 1, queue: 64, devices: "auto", versions: "latest" },
    },
  });
  expect(parseOptions(["a", "--memory", "2000", "--body-limit", "2000"], "1")).toMatchObject({
    settings: { memoryLimit: 2000, bodyLimit: 2000 },
  });
  expect(parseOptions(["a", "--load", "none"], "1")).toMatchObject({ settings: { load: [] } });
});

it.each([
  [["/no/such/folder"], "expected a folder of models or a .tflite file, got /no/such/folder, which is not there"],
  [[join(import.meta.dirname, "program.ts")], "is neither a folder nor a .tflite file"],
  [["/", "--token-file", "/no/such/file"], "the file of --token-file cannot be read: ENOENT"],
  [["/", "--tls-cert", "/no/such/file", "--tls-key", "/"], "the file of --tls-cert cannot be read: ENOENT"],
  [
    ["/", "--tls-cert", join(import.meta.dirname, "program.ts"), "--tls-key", "/no/file"],
    "the file of --tls-key cannot be read: ENOENT",
  ],
  [
    ["/", "--tls-cert", join(import.meta.dirname, "program.ts"), "--tls-key", join(import.meta.dirname, "program.ts")],
    /TLS cannot use the certificate .*program.ts with the key .*program.ts: /,
  ],
  [[import.meta.dirname, "--driver", "/no/such/directory"], "--driver /no/such/directory: "],
  [[import.meta.dirname, "--extension", "@nnhal/no"], "extensions: @nnhal/no is not installed: npm install @nnhal/no"],
])("refuses what is not there: %j", async (args, message) => {
  const { code, stdout, stderr } = await run(args);
  expect(stderr).toMatch(message);
  expect([code, stdout]).toEqual([2, ""]);
});

it("cannot work with a port that is in use, and says which", async () => {
  const taken = createServer();
  const port = await new Promise<number>((resolve) => {
    taken.listen(0, "127.0.0.1", () => {
      const address = taken.address();
      resolve(typeof address === "object" && address !== null ? address.port : 0);
    });
  });
  const folder = folderOf({});
  const rest = await run([folder, "--port", String(port), "--no-grpc"]);
  expect(rest).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(`REST cannot listen at 127.0.0.1, port ${port}: `),
  });
  const grpc = await run([folder, "--no-rest", "--grpc-port", String(port)]);
  expect(grpc).toMatchObject({ code: 1, stderr: expect.stringContaining(`gRPC cannot listen at 127.0.0.1:${port}: `) });
  taken.close();
});

it("starts with no models, and ends at a signal; a second one ends it at once", async () => {
  const folder = folderOf({ "broken/1/model.tflite": "" });
  const args = [folder, "--port", "0", "--grpc-port", "0", "--load", "none"];
  const ended = await run(args);
  expect(ended).toMatchObject({ code: 0, exits: [] });
  expect(ended.stdout).toMatch(/^ready rest=http:\/\/127\.0\.0\.1:\d+ grpc=127\.0\.0\.1:\d+\n$/);
  expect(ended.stderr).toMatch(/the server ends[\s\S]*all is closed/);
  expect((await run(args, { signals: 2 })).exits).toEqual([143]);
});

it.each([
  [{}, [], "there is none of those asked for"],
  [{ "broken/1/model.tflite": "" }, [], /broken: the model \S*model.tflite cannot be used: it is empty/],
  [{ "good/1/model.tflite": passingModel() }, ["--load", "other"], "there is none of those asked for"],
  [
    Object.fromEntries(["a", "b", "c", "d"].map((name) => [`${name}/1/model.tflite`, ""])),
    [],
    /a: .*; b: .*; c: .*; and 1 more/,
  ],
])("ends with 1 and the reasons if no model can be loaded: %j", async (files, more, reason) => {
  const { code, stdout, stderr } = await run([folderOf(files), "--port", "0", "--no-grpc", ...more]);
  expect([code, stdout]).toEqual([1, ""]);
  const line = stderr.split("\n").find((each) => each.startsWith("nnhal-server: ")) ?? "";
  expect(line).toMatch(/^nnhal-server: no model of \S+ could be loaded: .* \(--load none starts without models\)$/);
  expect(line).toMatch(reason);
});

it("warns if others can reach it without a token", async () => {
  const args = [folderOf({}), "--port", "0", "--no-grpc", "--host", "0.0.0.0", "--load", "none"];
  expect((await run(args)).stderr).toContain("all who reach 0.0.0.0 can use the models");
  expect((await run(args, { env: { NNHAL_SERVER_TOKEN: "secret" } })).stderr).not.toContain("all who reach");
  expect((await run(args, { env: { NNHAL_SERVER_TOKEN: " " } })).stderr).toContain("the token is empty");
});

const canMakeCertificates = (() => {
  try {
    execFileSync("openssl", ["version"], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
})();

it.runIf(canMakeCertificates)("speaks TLS, and asks for its token, over both protocols", async () => {
  const folder = folderOf({});
  const [key, cert, token] = [join(folder, "key.pem"), join(folder, "cert.pem"), join(folder, "token")];
  const subject = ["-subj", "/CN=localhost", "-days", "1"];
  const how = ["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", ...subject];
  execFileSync("openssl", [...how, "-keyout", key, "-out", cert], { stdio: "ignore" });
  writeFileSync(token, "secret\n");
  const statuses: (number | undefined)[] = [];
  const whileReady = async (text: string) => {
    const [, address, grpc = ""] = /rest=(https:\/\/\S+) grpc=(\S+)/.exec(text) ?? [];
    const security = credentials.createSsl(readFileSync(cert), null, null, { checkServerIdentity: () => undefined });
    for (const [client, authorization] of [
      [grpcClient(grpc), "Bearer secret"],
      [grpcClient(grpc, security), "Bearer wrong"],
      [grpcClient(grpc, security), "Bearer secret"],
    ] as const) {
      const answer = client.call("ServerMetadata", {}, { headers: { authorization } });
      statuses.push(
        await answer.then(
          () => status.OK,
          (error: { readonly code: number }) => error.code,
        ),
      );
      client.close();
    }
    for (const authorization of ["Bearer wrong", "Bearer secret"]) {
      statuses.push(
        await new Promise((resolve, reject) => {
          const options = { headers: { authorization }, rejectUnauthorized: false, agent: false };
          const sent = request(`${address}/v2`, options, (response) => {
            response.resume();
            resolve(response.statusCode);
          });
          sent.on("error", reject).end();
        }),
      );
    }
  };
  const args = ["--port", "0", "--grpc-port", "0", "--tls-cert", cert, "--tls-key", key, "--token-file", token];
  expect(await run([folderOf({}), ...args, "--load", "none"], { whileReady })).toMatchObject({ code: 0 });
  expect(statuses).toEqual([status.UNAVAILABLE, status.UNAUTHENTICATED, status.OK, 401, 200]);
});
