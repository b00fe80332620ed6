import type { RunContext } from '../lifecycle/run-context.js';
import { searchedRuns } from '../tools/searched-runs.js';
import type { Tool } from '../tools/tool.js';

/** From these figures on, tools take a large part of the context of a model. */
const MANY_TOOLS = 100;
const MANY_CHARACTERS = 100_000;
/** The measurement stops here. Measuring more would hold the thread. */
const MOST_CHARACTERS = 1_000_000;
/** Average number of characters of JSON in a token. */
const CHARACTERS_PER_TOKEN = 4;

/** Warns once if the tools of an agent take a large part of each request. */
export class ToolLoad {
  private isWarned = false;
  private checked: readonly Tool[] | undefined = undefined;

  /** Checks the tools of a turn. Measures each list of tools once. */
  check(run: RunContext): void {
    const { tools } = run;
    if (this.isWarned || tools.length === 0 || tools === this.checked || searchedRuns.has(run)) return;
    this.checked = tools;
    const length = charactersOf(tools);
    if (tools.length <= MANY_TOOLS && length <= MANY_CHARACTERS) return;
    this.isWarned = true;
    const tokens = Math.round(length / CHARACTERS_PER_TOKEN / 1_000);
    run.logger.warn(
      `Each request has ${tools.length} tools with ${length > MOST_CHARACTERS ? 'over ' : ''}${Math.round(length / 1_000)} KB of definitions, about ${tokens},000 tokens. OpenAI refuses more than 128 tools. Add \`toolSearch()\` of keelson/lifecycles, or set \`includeTools\`.`,
    );
  }
}

/** Returns the characters of the definitions, or more than `MOST_CHARACTERS` if the measurement stops. */
function charactersOf(tools: readonly Tool[]): number {
  let length = 0;
  for (const { name, description, inputSchema } of tools) {
    length += JSON.stringify([name, description, inputSchema]).length;
    if (length > MOST_CHARACTERS) break;
  }
  return length;
}
