/** `npm run accuracy-data -- DIR [COUNT]`: see accuracy-data.ts. Default: 200 pictures. */
import { resolve } from "node:path";
import { writeAccuracyData } from "./accuracy-data.ts";

const [folder, count = "200"] = process.argv.slice(2);

if (folder === undefined || !(Number(count) > 0)) {
  console.error("npm run accuracy-data -- DIR [COUNT]: expected a folder, and a count greater than 0");
  process.exitCode = 2;
} else {
  // npm runs scripts in the package, and leaves the user's folder in INIT_CWD.
  const path = resolve(process.env.INIT_CWD ?? ".", folder);
  writeAccuracyData(path, Number(count));
  console.log(`${count} pictures in ${path}`);
}
