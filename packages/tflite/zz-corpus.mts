import { existsSync, readdirSync, readFileSync } from "node:fs";
import { viewModel } from "@nnhal/backend";
import { createReferenceBackend } from "@nnhal/backend-reference";
import { tfliteExtension } from "@nnhal/extension-tflite";
import { byteLength, decodeTensorData, elementCount, isExtensionType } from "@nnhal/operations";
import { importTflite } from "./src/index.ts";

const dir = "/work/shared/corpus/";
const only = process.argv[2] ?? "";
const session: any = await createReferenceBackend({ extensions: [tfliteExtension] }).open();
let ok = 0;
const bad: string[] = [];
for (const f of readdirSync(dir).filter((x) => x.endsWith(".tflite") && x.includes(only))) {
  const t = Date.now();
  try {
    const bytes = new Uint8Array(readFileSync(dir + f));
    const imp = importTflite(bytes);
    const pools = imp.model.pools.map(
      ({ handle, size }: any) => new Uint8Array(handle.buffer, handle.byteOffset, size),
    );
    const exe = await session.compile(viewModel({ model: imp.model, pools, extensions: session.extensions }), {
      preference: 1,
      priority: 1,
    });
    const stateIn = new Set(imp.states.map((s) => s.input)),
      stateOut = new Set(imp.states.map((s) => s.output));
    let k = 0;
    const args = imp.inputs.map((info, i) => {
      const b = new Uint8Array(byteLength(info.type, elementCount(info.shape)));
      if (stateIn.has(i)) {
        if (info.zeroPoint) b.fill(info.zeroPoint);
      } else {
        const src = new Uint8Array(readFileSync(`${dir}${f}.in${k++}.bin`));
        if (src.length === 2 * b.length && info.tensorType === "INT64") {
          const big = new BigInt64Array(src.buffer);
          new Int32Array(b.buffer).set(Array.from(big, Number));
        } else if (src.length !== b.length) throw new Error(`input ${i} has ${src.length} bytes, needs ${b.length}`);
        else b.set(src);
      }
      return { bytes: b, dimensions: info.shape };
    });
    const outs = imp.outputs.map((info) => ({
      bytes: new Uint8Array(Math.max(1 << 16, byteLength(info.type, elementCount(info.shape)))),
      dimensions: info.shape,
    }));
    const r = await exe.run(args, outs, {
      now: () => process.hrtime.bigint(),
      loopTimeoutDuration: 10n ** 12n,
      measure: false,
      random: () => 0.5,
    });
    if (r.status !== 0) throw new Error(`run: ${r.message}`);
    k = 0;
    const notes: string[] = [];
    for (const [i, info] of imp.outputs.entries()) {
      if (stateOut.has(i)) continue;
      const exp = new Uint8Array(readFileSync(`${dir}${f}.out${k++}.bin`));
      const shape = r.outputShapes[i].dimensions;
      let data: any = decodeTensorData(
        info.type,
        outs[i].bytes.slice(0, byteLength(info.type, elementCount(shape))),
        elementCount(shape),
      );
      let want: any;
      if (info.tensorType === "INT64") {
        want = Array.from(new BigInt64Array(exp.buffer), Number);
        data = Array.from(data, Number);
      } else want = decodeTensorData(info.type, exp, exp.length / byteLength(info.type, 1));
      if (data.length !== want.length) {
        notes.push(`out${i} length ${data.length} wants ${want.length}`);
        continue;
      }
      const ty = info.tensorType;
      let mag = 1;
      for (const w of want) mag = Math.max(mag, Math.abs(w));
      const tol = ty.startsWith("FLOAT") ? 1e-3 * mag : ty === "UINT8" || ty === "INT8" ? 3 : ty === "INT16" ? 1 : 0;
      let wrong = 0,
        max = 0;
      for (let j = 0; j < want.length; j++) {
        const d = Math.abs(want[j] - data[j]);
        if (!(d <= tol)) wrong++;
        if (d > max || Number.isNaN(d)) max = d;
      }
      const limit = ty.startsWith("FLOAT") || ty === "UINT8" || ty === "INT8" || ty === "INT16" ? 0.001 : 0.01;
      if (wrong > limit * want.length) notes.push(`out${i} ${ty} ${wrong}/${want.length} wrong, max ${max}`);
    }
    exe.close();
    if (notes.length) bad.push(`${f}: ${notes.join("; ")} (${Date.now() - t} ms)`);
    else {
      ok++;
      if (only) console.log(`ok ${f} ${Date.now() - t} ms`);
    }
  } catch (e: any) {
    bad.push(`${f}: ${String(e.message).slice(0, 330)}`);
  }
}
console.log(bad.join("\n"));
console.log(`${ok} ok, ${bad.length} bad`);
