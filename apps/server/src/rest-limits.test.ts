/** Limits and compressions of REST, over real connections, so that times and codings count. */
import { connect } from "node:net";
import { deflateSync, gzipSync } from "node:zlib";
import { afterAll, beforeAll, expect, it } from "vitest";
import { addingModel, passingModel, removeFolders } from "./models.test-helper.ts";
import { type TestServer, testServer } from "./server.test-helper.ts";

let server: TestServer;
let url = "";
beforeAll(async () => {
  const files = {
    "adding/1/model.tflite": addingModel(),
    "strings/1/model.tflite": passingModel("STRING"),
    "broken/1/model.tflite": "not a model",
  };
  server = await testServer(files, { token: "secret", arrivalLimit: 1000 });
  url = await server.app.listen({ host: "127.0.0.1", port: 0 });
});
afterAll(async () => {
  await server.app.close();
  await server.models.close();
  removeFolders();
});

const input = (name: string) => ({ name, datatype: "FP32", shape: [2, 2], data: [1, 2, 3, 4] });
const right = Buffer.from(JSON.stringify({ inputs: [input("left"), input("right")] }));

async function infer(body: Uint8Array, headers: Readonly<Record<string, string>> = {}, model = "adding") {
  const response = await fetch(`${url}/v2/models/${model}/infer`, {
    ...{ method: "POST", body: new Uint8Array(body) },
    headers: { authorization: "Bearer secret", ...headers },
  });
  return { status: response.status, headers: response.headers, text: await response.text() };
}

it("bodies are unpacked, up to the limit, and others refused with what is taken", async () => {
  for (const [coding, packed] of [
    ["identity", right],
    ["gzip", gzipSync(right)],
    ["GZIP", gzipSync(right)],
    ["deflate", deflateSync(right)],
  ] as const) {
    expect((await infer(packed, { "content-encoding": coding })).status).toBe(200);
  }
  const { status, headers } = await infer(right, { "content-encoding": "br" });
  expect([status, headers.get("accept-encoding")]).toEqual([415, "gzip, deflate"]);
  const bomb = gzipSync(Buffer.alloc(2 ** 20 + 1, 32));
  expect((await infer(bomb, { "content-encoding": "gzip" })).status).toBe(413);
  expect(await infer(right, { "content-encoding": "gzip" })).toMatchObject({
    status: 400,
    text: expect.stringContaining("cannot be unpacked"),
  });
});

it("a token that is missing is told from one that is wrong", async () => {
  const challenges = await Promise.all(
    ["", "Bearer wrong"].map(async (authorization) => {
      const { status, headers, text } = await infer(right, { authorization });
      return [status, headers.get("www-authenticate"), JSON.parse(text).error];
    }),
  );
  expect(challenges).toEqual([
    [401, "Bearer", expect.stringContaining("needs the header Authorization")],
    [401, 'Bearer error="invalid_token"', expect.stringContaining("does not have Bearer and the token")],
  ]);
});

it("a request that drips is ended, headers and bodies alike", async () => {
  const ends = ["POST /v2 HTTP/1.1\r\nhost: a\r\nx-a: 1", "", `${head(100)}{`].map(
    (text) =>
      new Promise<string>((resolve) => {
        const { port, hostname } = new URL(url);
        const socket = connect(Number(port), hostname);
        let answer = "";
        const drip = setInterval(() => socket.write("1"), 50);
        if (text === "") clearInterval(drip);
        socket.on("data", (chunk) => {
          answer += chunk;
        });
        socket.on("error", () => {});
        socket.once("close", () => {
          clearInterval(drip);
          resolve(answer.slice(0, 12));
        });
        socket.write(text);
      }),
  );
  for (const answer of await Promise.all(ends)) expect(["HTTP/1.1 408", ""]).toContain(answer);
  // It left no waiting place taken.
  expect(server.models.ready.map(({ scheduler }) => scheduler.activity.placed)).not.toContain(1);
});

function head(length: number): string {
  return `POST /v2/models/adding/infer HTTP/1.1\r\nhost: a\r\nauthorization: Bearer secret\r\ncontent-length: ${length}\r\n\r\n`;
}

it("strings whose rows are larger than the memory of all requests are refused", async () => {
  const send = (count: number, width: number) => {
    const data = ["a".repeat(width), ...Array<string>(2 * count - 1).fill("")];
    return infer(
      Buffer.from(JSON.stringify({ inputs: [{ name: "given", datatype: "BYTES", shape: [count, 2], data }] })),
      {},
      "strings",
    );
  };
  expect((await send(10, 1000)).status).toBe(200);
  expect(await send(20_000, 20_000)).toMatchObject({ status: 413, text: expect.stringContaining("the request needs") });
  expect(await send(70_000, 1)).toMatchObject({ status: 413, text: expect.stringContaining("elements of BYTES") });
});

it("no folder of the server is in an answer, and no name stays that clients made up", async () => {
  const post = (path: string) =>
    fetch(`${url}${path}`, { method: "POST", headers: { authorization: "Bearer secret" } }).then((answer) =>
      answer.text(),
    );
  const texts = [await post("/v2/repository/index"), await post("/v2/repository/models/broken/load")];
  const made = "a".repeat(400);
  expect(await post(`/v2/repository/models/${made}/load`)).toContain("there is no model");
  const metrics = await fetch(`${url}/metrics`, { headers: { authorization: "Bearer secret" } });
  texts.push(await metrics.text(), await post("/v2/repository/index"));
  expect(texts.join()).not.toContain(made);
  expect(texts.join()).not.toContain(server.folder);
  expect(texts.join()).not.toContain("/tmp/");
  expect(texts[1]).toContain("cannot be loaded");
});
