// interleaved sessions of onnx files, variants of options

import { readFileSync } from "node:fs";
import * as ort from "onnxruntime-node";

const list = [];
for (const arg of process.argv.slice(2)) {
  const [f, level = "all", t = "1"] = arg.split(",");
  const t0 = performance.now();
  const s = await ort.InferenceSession.create(readFileSync(f), {
    graphOptimizationLevel: level,
    intraOpNumThreads: Number(t),
    interOpNumThreads: 1,
    logSeverityLevel: 4,
    extra: { "session.intra_op.allow_spinning": "0" },
  });
  const m = s.inputMetadata[0];
  const n = m.shape.reduce((a, b) => a * b, 1);
  const feeds = {
    [m.name]: new ort.Tensor(
      m.type,
      m.type === "float32"
        ? Float32Array.from({ length: n }, Math.random)
        : Uint8Array.from({ length: n }, () => Math.random() * 256),
      m.shape,
    ),
  };
  list.push({ arg, s, feeds, t: [], c: performance.now() - t0 });
}
const R = Number(process.env.R ?? 100);
for (let r = 0; r < R; r++)
  for (const m of list) {
    const t = process.cpuUsage();
    await m.s.run(m.feeds);
    const d = process.cpuUsage(t);
    m.t.push((d.user + d.system) / 1000);
  }
for (const m of list) {
  m.t.sort((a, b) => a - b);
  console.log(
    m.arg.padEnd(60),
    "create",
    m.c.toFixed(0),
    "min",
    m.t[0].toFixed(2),
    "median",
    m.t[m.t.length >> 1].toFixed(2),
  );
}
