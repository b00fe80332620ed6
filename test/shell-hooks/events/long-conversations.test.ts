import { readFileSync } from 'node:fs';
import { type AgentOptions, type Message, textOf } from 'keelson';
import { HOOK_EVENTS, type HookEvent } from 'keelson/shell-hooks';
import { says } from 'keelson/testing';
import { describe, expect, test } from 'vitest';
import { agentWith, hooksIn, recorded, records, useHookLab } from '../../support/shell-hooks/hook-lab.js';
import { longConversations } from '../../support/state/long-conversations.js';

const lab = useHookLab();
const hooksAt = (events: readonly HookEvent[]) =>
  hooksIn(lab, { hooks: events.map((event) => records(event)), transcript: 'claude' });

/** Opens a stored conversation in a new agent, asks one question, and closes. */
async function askNext(store: AgentOptions['store'], events: readonly HookEvent[]): Promise<void> {
  const { agent } = agentWith(lab, hooksAt(events), { script: [says('done')], store });
  const session = await agent.session({ id: 's1' });
  await session.run('next');
  await agent.close();
}

interface Line {
  readonly uuid: string;
  readonly parentUuid: string | null;
  readonly logicalParentUuid?: string | null;
  readonly isMeta?: boolean;
  readonly message?: { readonly content: string | readonly { readonly text: string }[] };
}

/** The lines of the transcript that the last hook got. */
function linesOf(): readonly Line[] {
  const { transcript_path: path } = recorded(lab).at(-1) ?? expect.fail('no hook ran');
  const lines = readFileSync(String(path), 'utf8').trimEnd().split('\n');
  return lines.map((line) => JSON.parse(line));
}

/** The texts of lines that a person or the model wrote. */
function saidIn(lines: readonly Line[]): readonly string[] {
  return lines.flatMap(({ isMeta, message }) => {
    if (isMeta || message === undefined) return [];
    const { content } = message;
    return typeof content === 'string' ? [content] : content.map(({ text }) => text);
  });
}

/** The lines from the first one to the last one, without other branches. */
function pathIn(lines: readonly Line[]): readonly Line[] {
  const path: Line[] = [];
  for (let line = lines.at(-1); line !== undefined; ) {
    const { parentUuid, logicalParentUuid } = line;
    path.unshift(line);
    line = lines.find(({ uuid }) => uuid === (parentUuid ?? logicalParentUuid));
  }
  return path;
}

describe.each(longConversations)('in a conversation that was %s', (_kind, make) => {
  test('S0-1.1: session_start runs once, before all other events, with the session id', async () => {
    const { store } = await make();

    await askNext(store, HOOK_EVENTS);

    const [start, ...others] = recorded(lab);
    expect(start).toMatchObject({ event: 'session_start', data: { session_id: 's1' } });
    expect(others.map(({ event }) => event)).toEqual([
      ...['before_agent', 'before_model', 'before_tool_selection', 'after_model', 'after_agent'],
      'session_end',
    ]);
  });

  test('S0-1.2: session_end gets all messages of the current path', async () => {
    const { store, said } = await make();

    await askNext(store, ['session_end']);

    const [{ data } = {}] = recorded(lab);
    const { messages } = data as { readonly messages: readonly Message[] };
    expect(messages.map(textOf)).toEqual([...said, 'next', 'done']);
  });

  test.each([
    ['a run', ['after_agent']],
    ['the start and the end', ['session_start', 'session_end']],
    ['each event', HOOK_EVENTS],
  ] as const)('the transcript has each message of the current path once, for hooks at %s', async (_at, events) => {
    const { store, said } = await make();

    await askNext(store, events);

    expect(saidIn(linesOf())).toEqual([...said, 'next', 'done']);
    expect(new Set(linesOf().map(({ uuid }) => uuid)).size).toBe(linesOf().length);
  });

  test.each([
    ['a run', ['after_agent', 'session_end']],
    ['each event', HOOK_EVENTS],
  ] as const)(
    'the transcript of its own process has the current path, which leads to the last message, for hooks at %s',
    async (_at, events) => {
      const { said } = await make({ loaders: [hooksAt(events)], logger: lab.logger });

      expect(new Set(saidIn(linesOf()))).toEqual(new Set(said));
      expect(new Set(linesOf().map(({ uuid }) => uuid)).size).toBe(linesOf().length);
      expect(saidIn(pathIn(linesOf()))).toEqual(said);
    },
  );
});
