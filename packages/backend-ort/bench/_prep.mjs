import { readFileSync } from "node:fs";
import * as ort from "onnxruntime-node";

const base = { intraOpNumThreads: 1, interOpNumThreads: 1, logSeverityLevel: 4 };
const src = readFileSync(process.argv[2]);
const mk = async (b, o) => {
  const t = process.cpuUsage();
  const s = await ort.InferenceSession.create(b, { ...base, ...o });
  const d = process.cpuUsage(t);
  await s.release();
  return (d.user + d.system) / 1000;
};
await mk(src, { graphOptimizationLevel: "all", optimizedModelFilePath: "/tmp/x.onnx" });
await mk(src, {
  graphOptimizationLevel: "all",
  optimizedModelFilePath: "/tmp/x.ort",
  extra: { "session.save_model_format": "ORT" },
});
const a = readFileSync("/tmp/x.onnx"),
  b = readFileSync("/tmp/x.ort");
console.log(src.length, a.length, b.length);
const t = { cold: [], onnx: [], ort: [], ortd: [], noprep: [] };
for (let i = 0; i < 12; i++) {
  t.cold.push(await mk(src, { graphOptimizationLevel: "all" }));
  t.onnx.push(await mk(a, { graphOptimizationLevel: "disabled" }));
  t.ort.push(await mk(b, { graphOptimizationLevel: "disabled" }));
  t.ortd.push(
    await mk(b, {
      graphOptimizationLevel: "disabled",
      extra: { "session.use_ort_model_bytes_directly": "1", "session.use_ort_model_bytes_for_initializers": "1" },
    }),
  );
  t.noprep.push(await mk(b, { graphOptimizationLevel: "disabled", extra: { "session.disable_prepacking": "1" } }));
}
for (const k in t) console.log(k, Math.min(...t[k]).toFixed(1), t[k].toSorted((x, y) => x - y)[6].toFixed(1));
