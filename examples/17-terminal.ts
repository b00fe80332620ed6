// A chat in the terminal that takes messages while the agent works. Ctrl+C stops the answer, and ends the program if none runs.
import { clearLine, createInterface, cursorTo } from 'node:readline';
import { setTimeout } from 'node:timers/promises';
import { Agent, defineTool, type SentMessage, textOf } from 'keelson';
import { calls, scriptedModel } from 'keelson/testing';
import { z } from 'zod';

const { WORK_MS = '3000' } = process.env;

const search = defineTool({
  name: 'search',
  description: 'Searches the logs of the harbour.',
  input: z.object({}),
  execute: async (_input, { signal }) => {
    await setTimeout(Number(WORK_MS), undefined, { signal });
    return 'The Aurora left at six.';
  },
});

// This model needs no key: it searches for each question, and repeats the messages that have come since.
const model = scriptedModel(({ messages }) => {
  if (messages.at(-1)?.role === 'user' && messages.at(-2)?.role !== 'tool') return calls('search');
  const since = messages.slice(messages.findLastIndex(({ role }) => role === 'tool') + 1);
  return since.length === 0 ? 'I have found the log.' : `You added: ${since.map(textOf).join(' ')}`;
});

const agent = new Agent({ model, tools: [search] });
const session = await agent.session();

const terminal = createInterface({ input: process.stdin, output: process.stdout, prompt: '> ' });

/** Prints above the line that the person types. */
function print(text: string): void {
  if (process.stdout.isTTY) {
    clearLine(process.stdout, 0);
    cursorTo(process.stdout, 0);
  }
  console.log(text);
  terminal.prompt(true);
}

// #region speak
const added: Promise<SentMessage>[] = [];
let answering: Promise<void> | undefined;

async function answer(input: string): Promise<void> {
  const { text } = await session.run(input);
  print(text);
  // A message may have come too late for this answer.
  for (let sent = added.shift(); sent !== undefined; sent = added.shift()) {
    if ((await (await sent).state()).type === 'waiting') print((await session.run('')).text);
  }
}

terminal.on('line', (line) => {
  if (answering === undefined) {
    const failed = (error: Error) => print(`Stopped: ${error.message}`);
    answering = answer(line)
      .catch(failed)
      .finally(() => {
        answering = undefined;
      });
  } else {
    added.push(session.send(line));
  }
  terminal.prompt();
});
terminal.on('SIGINT', () => {
  if (answering === undefined) terminal.close();
  else void session.stop({ reason: 'Ctrl+C' });
});
terminal.on('close', async () => {
  await answering;
  await agent.close();
});
// #endregion

print('Ask about the Aurora, and add something while the agent works.');
