/**
 * The process in which the suite over the definitions runs, since a kernel that hangs or crashes takes its process along.
 */
import { serveResults } from "../isolated.ts";
import { runRandomOperations } from "./suite.ts";

const [, , skip, count] = process.argv;

await serveResults((onStart, onProgress) => {
  let done = 0;
  return runRandomOperations({
    count: Number(count),
    skip: Number(skip),
    onStart,
    onTally: (operation, { computed, refused, large, long }) =>
      onProgress(
        ++done,
        `${operation}: ${computed} computed, ${refused} refused, ${large} too large, ${long} too long`,
      ),
  });
});
