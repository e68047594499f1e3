import { runTestFiles } from "./tests.ts";
const t = performance.now();
console.log(JSON.stringify(await runTestFiles(process.argv.slice(2)), null, 1), performance.now() - t);
process.exit();
