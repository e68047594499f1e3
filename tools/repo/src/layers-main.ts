/** `npm run layers`: writes docs/layers.svg, the picture of the packages and their sizes. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { layersPicture, measureSizes, picturePath } from "./layers.ts";
import { workspaceRoot } from "./workspace.ts";

writeFileSync(join(workspaceRoot, picturePath), layersPicture(measureSizes(workspaceRoot)));
