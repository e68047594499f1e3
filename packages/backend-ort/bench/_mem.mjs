import { readFileSync } from "node:fs";
import * as ort from "onnxruntime-node";

const [f, mode] = process.argv.slice(2);
const base = {
  graphOptimizationLevel: "all",
  intraOpNumThreads: 1,
  interOpNumThreads: 1,
  logSeverityLevel: 4,
  extra: { "session.disable_quant_qdq": "1", "session.intra_op.allow_spinning": "0" },
};
const o = structuredClone(base);
if (mode.includes("i")) o.extra["session.use_device_allocator_for_initializers"] = "1";
if (mode.includes("a")) o.enableCpuMemArena = false;
if (mode.includes("p")) o.extra["session.disable_prepacking"] = "1";
if (mode.includes("m")) o.enableMemPattern = false;
const _w = await ort.InferenceSession.create("/tmp/tc-basic.onnx", base);
const b = readFileSync(f);
const st = () =>
  Object.fromEntries(
    readFileSync("/proc/self/status", "utf8")
      .split("\n")
      .filter((l) => /^Vm(HWM|RSS)/.test(l))
      .map((l) => [l.slice(0, 5), parseInt(l.split(":")[1], 10) / 1024]),
  );
const r0 = st();
const s = await ort.InferenceSession.create(b, o);
const r1 = st();
const m = s.inputMetadata[0];
const feeds = { [m.name]: new ort.Tensor("uint8", new Uint8Array(224 * 224 * 3), m.shape) };
const t = [];
for (let i = 0; i < 15; i++) {
  const c = process.cpuUsage();
  await s.run(feeds);
  const d = process.cpuUsage(c);
  t.push((d.user + d.system) / 1000);
}
const r2 = st();
console.log(
  mode.padEnd(6),
  "create rss",
  (r1.VmRSS - r0.VmRSS).toFixed(1),
  "peak",
  (r1.VmHWM - r0.VmRSS).toFixed(1),
  "after runs",
  (r2.VmHWM - r0.VmRSS).toFixed(1),
  "cpu",
  Math.min(...t).toFixed(1),
);
