/** Issues as a message writes them. */
import type { Issue } from "@nnhal/validation";

/** The first few issues in one line. */
export function formatIssues(issues: readonly Issue[]): string {
  const shown = issues.slice(0, 3).map(({ path, message }) => `${path}: ${message}`);
  if (issues.length > shown.length) shown.push(`and ${issues.length - shown.length} more`);
  return shown.join("; ");
}
