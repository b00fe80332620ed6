// A chat in the terminal. The model is a script, unless OPENAI_API_KEY is set.
import { createInterface } from 'node:readline/promises';
import { Agent, defineTool } from 'keelson';
import { FileSessionStore } from 'keelson/file';
import { approval } from 'keelson/lifecycles';
import { openai } from 'keelson/openai';
import { z } from 'zod';
import { script } from './script.js';

const { OPENAI_API_KEY, SESSIONS = 'sessions' } = process.env;

const notes: string[] = [];
const keepNote = defineTool({
  name: 'keep_note',
  description: 'Keeps a note.',
  input: z.object({ note: z.string() }),
  execute: ({ note }) => `Note ${notes.push(note)} is kept.`,
});

const agent = new Agent({
  instructions: 'Answer in a few sentences.',
  model: OPENAI_API_KEY ? openai('gpt-5-mini', { apiKey: OPENAI_API_KEY }) : script,
  store: new FileSessionStore({ folder: SESSIONS }),
  tools: [keepNote],
  lifecycle: [
    approval({
      tools: ['keep_note'],
      ask: async ({ input }) => ((await ask(`Keep ${JSON.stringify(input)}? [y/N] `)) === 'y' ? 'approve' : 'deny'),
    }),
  ],
});
const session = await agent.session({ id: 'terminal' });

const terminal = createInterface({ input: process.stdin, output: process.stdout, prompt: '> ' });
const closed = new AbortController();
let answering: AbortController | undefined;
terminal.once('close', () => closed.abort());
terminal.on('SIGINT', () => (answering ? answering.abort() : terminal.close()));

terminal.prompt();
for await (const line of terminal) {
  if (line.trim() !== '') await answer(line);
  terminal.prompt();
}
await agent.close();

async function answer(line: string): Promise<void> {
  answering = new AbortController();
  const { signal } = answering;
  try {
    for await (const text of session.stream(line, { signal }).text) process.stdout.write(text);
    process.stdout.write('\n');
  } catch (error) {
    process.stdout.write(`\n${signal.aborted ? 'Stopped.' : `Failed: ${(error as Error).message}`}\n`);
  }
  answering = undefined;
}

/** Asks for a line. Returns undefined when the terminal is closed. */
function ask(text: string): Promise<string | undefined> {
  return terminal.question(text, { signal: closed.signal }).catch(() => undefined);
}
