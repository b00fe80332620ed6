// npm run demo [-- folder]: an agent answers two questions about a folder. The agent has its own tools and those of a
// real MCP server. A guard denies paths outside of the folder, and a person approves the calls of the server.
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Agent, formatRun, ModelError, type RunResult, type Session } from 'keelson';
import { approval } from 'keelson/lifecycles';
import { trace } from 'keelson/trace';
import { askPerson } from './ask-person.js';
import { type Choice, chooseModel, scriptedChoice } from './choose-model.js';
import { fileServer } from './file-server.js';
import { Folder } from './folder.js';
import { FolderGuard } from './folder-guard.js';
import { folderTools } from './folder-tools.js';
import { bold, dim, ProgressPrinter } from './terminal.js';

const INSTRUCTIONS = `You answer questions about a folder of files. Look with your tools before you answer, and say only
what they show. If a tool is denied, say so. Answer in one paragraph of at most three sentences.`;

const QUESTIONS = [
  'What is this project, and under which licence may I use it?',
  'Which files here name that licence, how large is its own, and what is in the folder above (list "..")?',
];

const LEGEND =
  'formatRun(result) draws each run: a line per turn, ✓ or ✗ per tool call, and the decisions of lifecycles.';

/** The traces of the demo of this user. On Windows, each user has a temporary folder. */
const TRACES = join(tmpdir(), `keelson-traces-${process.getuid?.() ?? 'demo'}`);

const NEXT_STEPS = `Try next:
  npm run demo -- <folder>           the same questions about another folder
  OPENAI_API_KEY=… npm run demo      a model in place of the script
  npx tsx examples/01-quickstart.ts  the agent of the README, in 20 lines
  docs/writing-a-lifecycle.md        how to write a guard like the one above
  npx tsx src/cli/cli.ts trace ${TRACES}
                                     the address of a page of these runs: the guard, each call, and the time`;

async function explore(folder: Folder, { model, note }: Choice): Promise<void> {
  const mcp = fileServer(folder);
  const printer = new ProgressPrinter();
  await using agent = new Agent({
    model,
    instructions: INSTRUCTIONS,
    tools: folderTools(folder),
    loaders: [mcp],
    // Without a list of tools, `approval` asks for every tool except the application's own read-only tools.
    lifecycle: [
      trace({ to: TRACES, maxFiles: 20 }),
      new FolderGuard(folder),
      approval({ ask: (call) => askPerson(call, printer) }),
    ],
    maxTurns: { limit: 12, atLimit: 'answer' },
  });
  await agent.ready();
  const servers = mcp.status().map(({ name, state, toolCount }) => `${name} is ${state}, with ${toolCount} tools`);
  console.log(`folder: ${folder.root}\nmodel:  ${note}\nMCP:    ${servers.join()}\n`);
  await using session = await agent.session();
  const results: RunResult[] = [];
  for (const question of QUESTIONS) results.push(await ask(session, question, printer));
  console.log(`${dim('─'.repeat(72))}\n${LEGEND}\n`);
  console.log(`${results.map(formatRun).join('\n\n')}\n\n${NEXT_STEPS}`);
}

async function ask(session: Session, question: string, printer: ProgressPrinter): Promise<RunResult> {
  console.log(bold(`? ${question}`));
  const stream = session.stream(question);
  for await (const event of stream) printer.print(event);
  console.log();
  return stream.result;
}

async function main(): Promise<void> {
  const path = process.argv[2] ?? fileURLToPath(new URL('../..', import.meta.url));
  const folder = await Folder.open(path);
  if (folder === undefined) {
    console.error(`"${path}" is not a folder. Pass the path of an existing folder: npm run demo -- <folder>`);
    process.exitCode = 1;
    return;
  }
  const choice = await chooseModel(process.env);
  try {
    await explore(folder, choice);
  } catch (error) {
    if (!(error instanceof ModelError)) throw error;
    console.log(`\n${error.message}\n`);
    await explore(folder, scriptedChoice('the model failed'));
  }
}

// The output pipe may close early: `npm run demo | head`.
process.stdout.on('error', () => process.exit(0));
await main();
