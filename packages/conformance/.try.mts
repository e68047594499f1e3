import { operations } from "@nnhal/operations";
import { createRandom } from "./src/random/random.ts";
import { signaturesOf } from "./src/random/signature.ts";
import { drawOperation } from "./src/random/draw.ts";
import { runRandomOperation } from "./src/random/run.ts";
const only = process.argv[2]; const N = Number(process.argv[3] ?? 300);
for (const operation of operations) {
  if (operation.controlFlow || (only && only !== "-" && !only.split(",").includes(operation.name))) continue;
  const sigs = signaturesOf(operation);
  const tally: any = { computed: 0, refused: 0, large: 0, long: 0, faulty: 0 }; const faults = new Map<string, string>(); const reasons = new Map<string, number>();
  const t = performance.now();
  for (let i = 0; i < N; i++) {
    const seed = i * 7919 + operation.code * 104729;
    const r = createRandom(seed);
    const sig = sigs[i % sigs.length];
    let op: any; let o: any;
    try { op = drawOperation(sig, r); o = runRandomOperation(op, r); } catch (e: any) { o = { kind: "faulty", fault: "GENERATOR " + e.stack }; }
    tally[o.kind]++;
    if (o.kind === "faulty") { const k = o.fault.split("\n")[0].replace(/\d+/g, "N"); if (!faults.has(k)) faults.set(k, seed + " " + o.fault.split("\n").slice(0, 4).join(" | ")+ " :: "+ JSON.stringify(op?.inputs?.map((x: any) => x && (x.dimensions.length ? x.type.replace("TENSOR_","")+"["+x.dimensions+"]"+(x.type==="TENSOR_INT32"?"{"+[...x.data].slice(0,8)+"}":"") : x.data[0])))); }
    if (o.kind === "refused") { const k = o.reason.replace(/-?[\d.]+(e[+-]?\d+)?/g, "N"); reasons.set(k, (reasons.get(k) ?? 0) + 1); }
  }
  console.log(operation.name, sigs.length, JSON.stringify(tally), Math.round(performance.now() - t) + "ms");
  for (const [, f] of faults) console.log("   !!", f.slice(0, 900));
  if (only) for (const [k, n] of [...reasons].sort((a, b) => b[1] - a[1]).slice(0, 12)) console.log("    ", n, k);
}
