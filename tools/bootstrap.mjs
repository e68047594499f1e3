/**
 * The program behind `npm start`, `npm test` and the other root scripts. Plain Node.js without dependencies, since on a fresh
 * checkout nothing is installed yet: it brings the install up to date if that is needed, then hands over.
 *
 *   start            install what the demo needs, run the demo
 *   nnhal ARGS       the same install, then the command line with ARGS, in the folder the user typed it in
 *   setup            full install: every engine that needs no separate build
 *   generate         full install, then write the generated files
 *   api              full install and build, then write the API reports
 *   fuzz TARGET      full install, then the fuzzer (docs/fuzzing.md)
 *   hostile SURFACE  full install, then hostile input for a program (docs/fuzzing.md)
 *   mutants PACKAGE  full install, then a mutation test of a package
 *   processors       full install, then the engines on emulated processors (docs/measurements-processors.md)
 *   differences      full install, then a comparison of quantised operators with TensorFlow Lite
 *   ok, test [STEP…] full install, then the gate: all of it, or the named steps
 */
const needed = [20, 19];
const [major, minor] = process.versions.node.split(".").map(Number);

if (major < needed[0] || (major === needed[0] && minor < needed[1])) {
  console.error(`nnhal needs Node.js ${needed.join(".")} or newer; this is ${process.versions.node}.`);
  process.exitCode = 1;
} else {
  // Imported only now, so that an old Node.js gets the line above and not a syntax error.
  const { main } = await import("./launcher/src/main.mjs");
  const code = await main(process.argv.slice(2));
  if (code !== undefined) process.exitCode = code;
}
