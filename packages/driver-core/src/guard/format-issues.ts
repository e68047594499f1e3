/** Text for issues. */
import type { Issue } from "@nnhal/validation";

/** The first issues in one line. */
export function formatIssues(issues: readonly Issue[]): string {
  const shown = issues.slice(0, 3).map(({ path, message }) => `${path}: ${message}`);
  if (issues.length > shown.length) shown.push(`and ${issues.length - shown.length} more`);
  return shown.join("; ");
}
