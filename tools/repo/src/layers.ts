/**
 * docs/layers.svg: the packages by layer, each with its lines of source. `npm run layers` writes it; a test fails if a package is not in it,
 * or has become another size.
 */
import { isTest, readWorkspace, type WorkspacePackage } from "./workspace.ts";

export const picturePath = "docs/layers.svg";

/** Role of a package for a user. `installed`: comes with `npm install nnhal`. `added`: published apart. `proof`: not the product. */
type Role = "installed" | "added" | "proof";

interface Layer {
  readonly title: string;
  /** Names of folders under packages/, apps/ or tools/. */
  readonly members: readonly string[];
  readonly isProof?: boolean;
}

/** From the top: a package depends on its own layer and those below it. The product does not depend on the last one. */
export const layers: readonly Layer[] = [
  { title: "To install", members: ["nnhal", "create-nnhal"] },
  { title: "Programs", members: ["cli", "server", "studio", "sample-driver", "worker"] },
  { title: "Applications", members: ["network", "batch", "program"] },
  { title: "Programming model", members: ["runtime", "tflite", "diff"] },
  { title: "Other processes", members: ["service", "transport"] },
  { title: "Driver", members: ["driver-core"] },
  { title: "Engines", members: ["backend-reference", "backend-wasm", "backend-ort", "backend-tfjs", "backend-gpujs"] },
  { title: "Extensions", members: ["extension-tflite", "extension-mediapipe", "extension-fibonacci"] },
  { title: "Engine contract", members: ["backend"] },
  { title: "HAL", members: ["types", "operations", "validation", "utils"] },
  {
    title: "Proof and tools",
    members: ["conformance", "test-kit", "fuzz", "hostile", "differences", "processors", "train-demo-model", "repo"],
    isProof: true,
  },
];

export interface PackageSize {
  readonly name: string;
  readonly role: Role;
  /** Lines under src/, without tests and generated files. */
  readonly lines: number;
}

export interface Sizes {
  readonly packages: readonly PackageSize[];
  /** Lines of tests, and of what only tests use. */
  readonly tests: number;
}

const folderName = ({ folder }: WorkspacePackage) => folder.split("/").at(-1) ?? folder;
const linesIn = (files: WorkspacePackage["sources"]) =>
  files.reduce((sum, { text }) => sum + text.split("\n").length - 1, 0);

/** Names of the packages that come with an install of `name`, itself included. */
function findInstalled(name: string, workspace: readonly WorkspacePackage[]): ReadonlySet<string> {
  const found = new Set<string>();
  const add = (next: string) => {
    const one = workspace.find(({ manifest }) => manifest.name === next);
    if (one === undefined || found.has(next)) return;
    found.add(next);
    for (const dependency of Object.keys(one.manifest.dependencies ?? {})) add(dependency);
  };
  add(name);
  return found;
}

/** Counts the lines of the checkout at `root`. */
export function measureSizes(root: string): Sizes {
  const workspace = readWorkspace(root);
  const installed = findInstalled("nnhal", workspace);
  const proof = new Set(layers.flatMap(({ members, isProof }) => (isProof === true ? members : [])));
  const packages = workspace.map((one): PackageSize => {
    const name = folderName(one);
    const role = proof.has(name) ? "proof" : installed.has(one.manifest.name) ? "installed" : "added";
    const own = one.sources.filter(({ path }) => !isTest(path) && !/\.gen\.ts$/.test(path));
    return { name, role, lines: linesIn(own) };
  });
  const tests = linesIn(workspace.flatMap(({ sources }) => sources.filter(({ path }) => isTest(path))));
  return { packages, tests };
}

/** Thousands with one decimal: 12,345 lines are "12.3". */
const thousands = (lines: number) => (lines < 50 ? "&lt; 0.1" : (lines / 1000).toFixed(1));

const width = 1150;
const boxLeft = 176;
const boxWidth = 184;
const boxHeight = 40;
const gap = 8;
const perRow = 5;

/** Fill, stroke and bar of a box. */
const colours: Readonly<Record<Role, readonly [string, string, string]>> = {
  installed: ["#dbeafe", "#1d4ed8", "#2563eb"],
  added: ["#dcfce7", "#15803d", "#16a34a"],
  proof: ["#f3f4f6", "#6b7280", "#9ca3af"],
};

const meanings: Readonly<Record<Role, string>> = {
  installed: "comes with npm install nnhal",
  added: "published, added by name",
  proof: "proof and tools",
};

/** The picture. It has a background of its own, so that it can be read on white and on dark. */
export function layersPicture({ packages, tests }: Sizes): string {
  const most = Math.max(...packages.map(({ lines }) => lines));
  const parts: string[] = [];
  let top = 64;
  for (const { title, members } of layers) {
    const rows = Math.ceil(members.length / perRow);
    const height = rows * (boxHeight + gap) - gap;
    parts.push(`<text x="20" y="${top + 25}" class="layer">${title}</text>`);
    for (const [index, name] of members.entries()) {
      const one = packages.find((each) => each.name === name);
      if (one === undefined) throw new Error(`${picturePath}: there is no package ${name}`);
      const x = boxLeft + (index % perRow) * (boxWidth + gap);
      parts.push(boxOf(one, x, top + Math.floor(index / perRow) * (boxHeight + gap), most));
    }
    top += height + 12;
  }
  const sumOf = (role: Role) => packages.reduce((sum, one) => sum + (one.role === role ? one.lines : 0), 0);
  const roles: readonly Role[] = ["installed", "added", "proof"];
  const legend = roles.map((role, index) => {
    const x = 20 + index * 345;
    const [fill, stroke] = colours[role];
    return `<rect x="${x}" y="${top + 6}" width="14" height="14" rx="3" fill="${fill}" stroke="${stroke}"/><text x="${x + 22}" y="${top + 18}">${meanings[role]}: ${thousands(sumOf(role))}</text>`;
  });
  const bottom = top + 56;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${bottom}" width="${width}" height="${bottom}" role="img">
<title>The packages of nnhal by layer, with thousands of lines of source</title>
<style>text{font:13px system-ui,sans-serif;fill:#111827}.title{font-size:16px;font-weight:600}.layer{font-weight:600}.lines{fill:#374151;text-anchor:end}</style>
<rect width="${width}" height="${bottom}" rx="10" fill="#ffffff" stroke="#d1d5db"/>
<text x="20" y="32" class="title">Which lines are the product</text>
<text x="20" y="51">Thousands of lines of source without tests; a layer needs those below it, and nothing needs the last one.</text>
${parts.join("\n")}
${legend.join("\n")}
<text x="20" y="${top + 42}">Tests beside the sources: ${thousands(tests)}</text>
</svg>
`;
}

function boxOf({ name, role, lines }: PackageSize, x: number, y: number, most: number): string {
  const [fill, stroke, bar] = colours[role];
  const length = Math.max(2, Math.round((lines / most) * (boxWidth - 20)));
  return [
    `<rect x="${x}" y="${y}" width="${boxWidth}" height="${boxHeight}" rx="5" fill="${fill}" stroke="${stroke}"/>`,
    `<text x="${x + 10}" y="${y + 19}">${name}</text>`,
    `<text x="${x + boxWidth - 10}" y="${y + 19}" class="lines" data-package="${name}" data-lines="${lines}" data-role="${role}">${thousands(lines)}</text>`,
    `<rect x="${x + 10}" y="${y + 27}" width="${length}" height="6" rx="2" fill="${bar}"/>`,
  ].join("");
}

/** Differences of a picture from the checkout: packages that are missing or have another role, sizes that are off by a fifth and 300 lines. */
export function staleSizes(picture: string, { packages }: Sizes): string[] {
  const pattern = /data-package="([^"]+)" data-lines="(\d+)" data-role="([^"]+)"/g;
  const shown = new Map(
    Array.from(picture.matchAll(pattern), ([, name = "", lines, role]) => [name, { lines: Number(lines), role }]),
  );
  const counted = packages.filter(({ name }) => name !== "launcher");
  const problems = counted.flatMap(({ name, lines, role }) => {
    const box = shown.get(name);
    if (box === undefined) return [`${name} is not in the picture: add it to a layer in tools/repo/src/layers.ts`];
    if (box.role !== role) return [`${name}: expected the role ${role}, got ${box.role}: npm run layers`];
    const allowed = Math.max(300, lines / 5);
    return Math.abs(box.lines - lines) > allowed
      ? [`${name}: expected about ${lines} lines, got ${box.lines}: npm run layers`]
      : [];
  });
  const known = new Set(packages.map(({ name }) => name));
  return [...problems, ...[...shown.keys()].flatMap((name) => (known.has(name) ? [] : [`${name} is not a package`]))];
}
