// npm run demo [-- folder]: an agent answers two questions about a folder, with its own
// tools, those of a real MCP server, and two lifecycles.
import { fileURLToPath } from 'node:url';
import { Agent, ModelError, type Session, type Usage } from 'keelson';
import { AuditLog } from './audit-log.js';
import { type Choice, chooseModel, scriptedChoice } from './choose-model.js';
import { fileServer } from './file-server.js';
import { Folder } from './folder.js';
import { FolderGuard } from './folder-guard.js';
import { folderTools } from './folder-tools.js';
import { drawSummary } from './summary.js';
import { bold, dim, ProgressPrinter } from './terminal.js';

const INSTRUCTIONS = `You answer questions about a folder of files. Look with your tools before you answer, and say only
what they show. Where a tool is denied, say so. Answer in one paragraph of at most three sentences.`;

const QUESTIONS = [
  'What is this project, and under which licence may I use it?',
  'Which files here name that licence, how large is its own, and what is in the folder above (list "..")?',
];

async function explore(folder: Folder, { model, note }: Choice): Promise<void> {
  const mcp = fileServer(folder);
  const audit = new AuditLog();
  const guard = new FolderGuard(folder);
  await using agent = new Agent({
    model,
    instructions: INSTRUCTIONS,
    tools: folderTools(folder),
    loaders: [mcp],
    lifecycle: [audit, guard],
    maxTurns: { limit: 12, atLimit: 'answer' },
  });
  await agent.ready();
  const servers = mcp.status().map(({ name, state, toolCount }) => `${name} is ${state}, with ${toolCount} tools`);
  console.log(`folder: ${folder.root}\nmodel:  ${note}\nMCP:    ${servers.join()}\n`);
  const start = performance.now();
  await using session = await agent.session();
  const usages: Usage[] = [];
  for (const question of QUESTIONS) usages.push(await ask(session, question));
  console.log(dim('─'.repeat(72)));
  console.log(drawSummary({ audit, guard, usages, ms: performance.now() - start }));
}

async function ask(session: Session, question: string): Promise<Usage> {
  console.log(bold(`? ${question}`));
  const printer = new ProgressPrinter();
  const stream = session.stream(question);
  for await (const event of stream) printer.print(event);
  console.log();
  return (await stream.result).usage;
}

async function main(): Promise<void> {
  const path = process.argv[2] ?? fileURLToPath(new URL('../..', import.meta.url));
  const folder = await Folder.open(path);
  if (folder === undefined) {
    console.error(`There is no folder "${path}".`);
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

// Whoever reads may stop reading: `npm run demo | head`.
process.stdout.on('error', () => process.exit(0));
await main();
