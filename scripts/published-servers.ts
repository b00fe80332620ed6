/**
 * Compares published MCP servers through `mcpServers` with the client of the MCP SDK: tools, schemas, results, and calls
 * with arguments altered in five ways. Tests recorded requests with these tools against the rules of OpenAI and
 * Anthropic. Uses stdio, and also HTTP and SSE if a server offers them. The servers are npm packages in a folder outside
 * of this project, so that no script downloads anything:
 *
 *     npm install --ignore-scripts --prefix <folder> <packages>
 *     npm run servers -- <folder> [packages]
 */
import { isDeepStrictEqual } from 'node:util';
import type { McpTool } from '../src/mcp/mcp.js';
import {
  type Answer,
  type Input,
  type Listed,
  type SeenByKeelson,
  type SeenBySdk,
  SILENT,
  seeWithKeelson,
  seeWithSdk,
} from './servers/clients.js';
import { providerProblems } from './servers/provider-rules.js';
import { type Published, SERVERS } from './servers/published.js';
import { launchOf, overPort, overStdio, type Reach } from './servers/reach.js';

interface Comparison {
  readonly problems: readonly string[];
  readonly tools: readonly McpTool[];
  /** How many altered calls the server accepts from the SDK's client, and from an agent. */
  readonly accepted: number;
  readonly acceptedInRun: number;
  readonly altered: number;
}

/** A server that the SDK's client cannot use either, for example because the server needs a network to list its tools. */
interface NotComparable {
  readonly reason: string;
}

const messageOf = (error: unknown) => (error instanceof Error ? error.message.slice(0, 300) : String(error));

/** Runs the clients one after the other, because some servers end another process of their own. */
async function compare(id: string, reach: Reach, { call }: Published): Promise<Comparison | NotComparable> {
  let sdk: SeenBySdk;
  try {
    sdk = await reach((reached) =>
      seeWithSdk(reached, (listed) => ({ tool: call.tool, inputs: [call.input, ...alterations(call, listed)] })),
    );
  } catch (error) {
    return { reason: messageOf(error) };
  }
  const altered = sdk.answers.slice(1);
  const accepted = altered.filter((answer) => isAccepted(answer, sdk.answers[0])).length;
  try {
    const own = await reach((reached) => seeWithKeelson(id, reached, sdk));
    const problems = [
      ...comparedTools(sdk.listed, own.tools),
      ...comparedAnswers(sdk, own),
      ...(await providerProblems(own.tools, SILENT)),
    ];
    const acceptedInRun = own.answers.slice(1).filter((answer) => isAccepted(answer, own.answers[0])).length;
    return { problems, tools: own.tools, accepted, acceptedInRun, altered: altered.length };
  } catch (error) {
    return { problems: [messageOf(error)], tools: [], accepted, acceptedInRun: 0, altered: altered.length };
  }
}

/**
 * Returns the arguments altered in five ways, without those that change nothing: an unknown key, numbers, booleans and
 * lists as strings, and `null` for each absent optional property.
 */
function alterations({ tool, input }: Published['call'], listed: readonly Listed[]): readonly Input[] {
  const changed = (change: (value: unknown) => unknown) =>
    Object.fromEntries(Object.entries(input).map(([name, value]) => [name, change(value)]));
  const schema = listed.find(({ name }) => name === tool)?.inputSchema ?? {};
  const absent = Object.keys((schema.properties ?? {}) as object).filter((name) => !Object.hasOwn(input, name));
  return [
    { ...input, unknown_key: 1 },
    changed((value) => (typeof value === 'number' ? String(value) : value)),
    changed((value) => (typeof value === 'boolean' ? String(value) : value)),
    changed((value) => (typeof value === 'object' ? JSON.stringify(value) : value)),
    { ...input, ...Object.fromEntries(absent.map((name) => [name, null])) },
  ].filter((altered) => !isDeepStrictEqual(altered, input));
}

/** A tool that can be called only as a task is left out on purpose. */
function comparedTools(listed: readonly Listed[], own: readonly McpTool[]): string[] {
  return listed.flatMap(({ name, inputSchema, execution }) => {
    if (execution?.taskSupport === 'required') return [];
    const tool = own.find(({ metadata }) => metadata.mcpTool === name);
    if (tool === undefined) return [`tool ${name} is missing`];
    return isDeepStrictEqual(tool.inputSchema, inputSchema) ? [] : [`schema of ${name} differs`];
  });
}

function comparedAnswers({ tool, inputs, answers }: SeenBySdk, own: SeenByKeelson): string[] {
  const [plain] = answers;
  const refused = inputs.filter(
    (_input, index) => isAccepted(answers[index], plain) && !isAccepted(own.answers[index], own.answers[0]),
  );
  return [
    ...(isSameResult(plain, own.result) ? [] : [`result of ${tool} differs: ${own.result.text.slice(0, 200)}`]),
    ...refused.map((input) => `refuses ${JSON.stringify(input)}`),
  ];
}

/** An error of Keelson contains the error of the server. */
function isSameResult(sdk: Answer | undefined, own: Answer): boolean {
  if (sdk === undefined || sdk.isError !== own.isError) return false;
  const text = sdk.text.replace(/MCP error -?\d+: /g, '');
  return sdk.isError ? withoutNumbers(own.text).includes(withoutNumbers(text)) : own.text === text;
}

/** Altered arguments are accepted if the call succeeds, or fails in the same way as with the given arguments. */
function isAccepted(answer: Answer | undefined, plain: Answer | undefined): boolean {
  if (answer === undefined || plain === undefined) return false;
  return !answer.isError || withoutNumbers(answer.text) === withoutNumbers(plain.text);
}

/** Removes numbers and ids, which differ between two calls. */
function withoutNumbers(text: string): string {
  return text.replace(/\b[\da-f-]*\d[\da-f-]*\b/gi, 'N');
}

const [folder, ...chosen] = process.argv.slice(2);
if (folder === undefined) {
  console.error(`Usage: npm run servers -- <folder>\nPackages: ${Object.keys(SERVERS).join(' ')}`);
  process.exit(2);
}
const counts = { equal: 0, different: 0, unusable: 0, absent: 0, accepted: 0, acceptedInRun: 0, altered: 0 };
const all = new Map<string, readonly McpTool[]>();

function report(name: string, over: string, compared: Comparison | NotComparable): void {
  if ('reason' in compared) {
    counts.unusable += 1;
    console.log(`not comparable: ${name} over ${over}, because the SDK's client fails too: ${compared.reason}`);
    return;
  }
  const { problems, tools, accepted, acceptedInRun, altered } = compared;
  counts.accepted += accepted;
  counts.acceptedInRun += acceptedInRun;
  counts.altered += altered;
  counts[problems.length === 0 ? 'equal' : 'different'] += 1;
  all.set(name, tools);
  const lines = problems.map((problem) => `\n  ${problem}`).join('');
  const facts = `${tools.length} tools, ${accepted} of ${altered} altered calls are accepted, ${acceptedInRun} in a run`;
  console.log(`${problems.length === 0 ? 'equal' : 'DIFFERENT'} ${name} over ${over}: ${facts}${lines}`);
}

for (const [name, server] of Object.entries(SERVERS)) {
  if (chosen.length > 0 && !chosen.includes(name)) continue;
  const launch = launchOf(folder, name, server);
  if (launch === undefined) {
    counts.absent += 1;
    continue;
  }
  const id = name.replace(/\W+/g, '-').replace(/^-/, '');
  report(name, 'stdio', await compare(id, overStdio(launch), server));
  for (const remote of server.remote ?? []) {
    const program = launchOf(folder, name, remote);
    if (program !== undefined) report(name, remote.type, await compare(id, overPort(program, remote), server));
  }
}
const { equal, different, unusable, absent, accepted, acceptedInRun, altered } = counts;
console.log(`${equal} equal, ${different} different, ${unusable} not comparable; ${absent} packages are not installed`);
console.log(`${accepted} of ${altered} altered calls are accepted from the SDK's client, ${acceptedInRun} in a run`);
const tools = [...all.values()].flat();
const problems = await providerProblems(tools, SILENT);
console.log(
  `one request with all ${tools.length} tools: ${problems.join('; ') || 'follows the rules of both providers'}`,
);
process.exit(different === 0 && problems.length === 0 ? 0 : 1);
