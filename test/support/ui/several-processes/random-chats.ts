import { expect } from 'vitest';
import type { SharedPlace } from '../../../fixtures/ui/chat-process.js';
import { pause, until } from '../../agent/settle.js';
import { type Random, seeded } from '../../soak/random-agent.js';
import { loadHistory } from '../chat-client.js';
import { postTo, remoteHandler } from '../chat-server.js';
import { type ReadSSE, readEvents } from '../read-sse.js';
import { shownText } from '../read-ui-message.js';
import { type ChatProcess, startChatProcess } from './chat-process.js';
import { CutReader, readOf } from './cut-reader.js';

const READERS = 5;
/** A busy machine must not let a claim run out. */
const CLAIM_MS = 5_000;

/** How the runs ended, by the last events that a page has read. */
export type Ends = Record<'done' | 'stopped' | 'lost' | 'nothing', number>;

/** Plays chats one after the other. Their pages are cut at random, their runs are stopped, and their processes are killed. */
export class RandomChats {
  readonly ends: Ends = { done: 0, stopped: 0, lost: 0, nothing: 0 };
  private readonly random: Random;
  private readonly processes: ChatProcess[] = [];

  constructor(
    private readonly program: string,
    private readonly place: SharedPlace,
    seed: number,
  ) {
    this.random = seeded(seed);
  }

  async play(count: number): Promise<void> {
    try {
      for (let index = 0; index < count; index += 1) await this.playOne(`chat-${index}`);
    } finally {
      await Promise.all(this.processes.map((it) => it.kill()));
    }
  }

  private async playOne(chat: string): Promise<void> {
    const { random, processes } = this;
    while (processes.length < 2) processes.push(await this.start());
    if (random() < 0.5) processes.reverse();
    const [owner, other] = processes as [ChatProcess, ChatProcess];
    const whole = readEvents(await postTo(`${owner.url}/sse`, { id: chat, message: 'Work.' }));
    await until(() => whole.events.length > 0);
    const readers = Array.from({ length: READERS }, () => new CutReader(this.cuts(), true));
    const following = Promise.all(readers.map((it) => this.follow(it, chat)));
    const deed = random();
    const goingOn = this.goOn(owner, whole.ended);
    if (deed < 0.3) await this.kill(owner);
    else if (deed < 0.6) await this.stop(other, chat);
    await Promise.all([following, whole.ended.catch(() => {}), goingOn]);

    this.check(
      readers.map(({ events }) => events),
      { isKilled: deed < 0.3, whole: whole.events },
    );
    await this.continueIn(other, chat);
  }

  /** The longest list of events is the whole answer. Other pages have read its beginning. */
  private check(all: readonly (readonly ReadSSE[])[], { isKilled, whole }: Answered): void {
    const read = [...all, isKilled ? [] : whole].map(readOf);
    const longest = read.reduce((one, next) => (next.length > one.length ? next : one));
    for (const text of read) expect(longest.slice(0, text.length)).toBe(text);
    const end = endOf(longest);
    this.ends[end] += 1;
    if (!isKilled) expect(['done', 'stopped']).toContain(end);
  }

  /** Asks again in a process that lives, and compares the histories. */
  private async continueIn(process: ChatProcess, chat: string): Promise<void> {
    const next = await postTo(`${process.url}/sse`, { id: chat, message: 'Go on.' });
    expect(endOf(await next.text())).toBe('done');
    const { running, pending, messages } = await loadHistory(remoteHandler(process), chat);
    expect({ running, pending }).toEqual({ running: false, pending: [] });
    expect(new Set(messages.map(({ id }) => id)).size).toBe(messages.length);
    const texts = messages.map(shownText);
    expect(texts.slice(-2)).toEqual(['Go on.', expect.stringMatching(/^(user( assistant| tool)* )?user$/)]);
    expect([[], ['Work.'], ['Work.', expect.toSatisfy((text) => 'On it.Done.'.startsWith(text))]]).toContainEqual(
      texts.slice(0, -2),
    );
  }

  private start(): Promise<ChatProcess> {
    return startChatProcess(this.program, { ...this.place, claimMs: CLAIM_MS });
  }

  private cuts(): number[] {
    return Array.from({ length: 18 }, (_, count) => count).filter(() => this.random() < 0.3);
  }

  private async follow(reader: CutReader, chat: string): Promise<void> {
    const { random, processes } = this;
    await pause(random() * 100);
    await reader.follow(chat, () => processes[random() < 0.5 ? 0 : processes.length - 1]?.url ?? '');
  }

  private async goOn(owner: ChatProcess, ended: Promise<void>): Promise<void> {
    let isOver = false;
    const end = () => {
      isOver = true;
    };
    ended.then(end, end);
    while (!isOver) {
      await pause(this.random() * 100);
      owner.goOn();
    }
  }

  private async kill(owner: ChatProcess): Promise<void> {
    await pause(this.random() * 600);
    this.processes.splice(this.processes.indexOf(owner), 1);
    await owner.kill();
  }

  private async stop(other: ChatProcess, chat: string): Promise<void> {
    await pause(this.random() * 600);
    await postTo(`${other.url}/sse/stop`, { id: chat });
  }
}

interface Answered {
  readonly isKilled: boolean;
  /** The events that the page of the question has read. */
  readonly whole: readonly ReadSSE[];
}

function endOf(read: string): keyof Ends {
  if (read.includes('"status":"completed"')) return 'done';
  if (read.includes('"aborted":true')) return 'stopped';
  return read.includes('ERR_SESSION_LOST') ? 'lost' : 'nothing';
}
