import { type Entry, type Message, modelMessagesOf, textOf, toolCallsOf } from 'keelson';
import { entriesInside, sentUnder } from './record-path.js';

/** The memory of one exploration: numbers for strings, and for each record its first broken rule. */
export class Ledger {
  private readonly numbers = new Map<string, number>();
  private readonly faults = new Map<number, string>();

  /** Returns a number that stands for the string. */
  intern(text: string): number {
    const known = this.numbers.get(text);
    if (known !== undefined) return known;
    this.numbers.set(text, this.numbers.size + 1);
    return this.numbers.size;
  }

  /** Returns the number of a record that grew by its last entry. Each record is checked once. */
  grow(before: number, entries: readonly Entry[]): number {
    const { at: _at, ...last } = entries.at(-1) as Entry;
    const count = this.numbers.size;
    const number = this.intern(`${before} + ${JSON.stringify(last)}`);
    if (number <= count) return number;
    const fault = this.faults.get(before) ?? recordFault(entries);
    if (fault !== undefined) this.faults.set(number, fault);
    return number;
  }

  faultOf(record: number): string | undefined {
    return this.faults.get(record);
  }
}

/** Returns the rule that a record breaks, if the record without its last entry breaks none. */
function recordFault(entries: readonly Entry[]): string | undefined {
  const last = entries.at(-1) as Entry;
  if (entries.filter(({ id }) => id === last.id).length > 1) return `entry ${last.id} is in the record twice`;
  return (
    saidTwice(entries, last) ??
    settledTwice(entries, last) ??
    outOfOrder(entries, last) ??
    derivationFault(last.path === undefined ? entries : entriesInside(entries, String(last.path.at(-1))))
  );
}

/** The text of a message of the person. Each message of a scenario has its own. */
function saidIn({ body }: Entry): string | undefined {
  return body.type === 'message' && body.message.role === 'user' ? textOf(body.message) : undefined;
}

function saidTwice(entries: readonly Entry[], last: Entry): string | undefined {
  const text = saidIn(last);
  const isTwice = text !== undefined && entries.filter((entry) => saidIn(entry) === text).length > 1;
  return isTwice ? `message ${text} is said twice` : undefined;
}

function settledTwice(entries: readonly Entry[], { body }: Entry): string | undefined {
  const { post } = body as { post?: unknown };
  if (typeof post !== 'string') return undefined;
  const ends = entries.filter(
    (entry) => entry.body.type !== 'post' && 'post' in entry.body && entry.body.post === post,
  );
  return ends.length > 1 ? `post ${post} has joined or was dropped ${ends.length} times` : undefined;
}

/** Messages join in the order in which they were sent. */
function outOfOrder(entries: readonly Entry[], { body }: Entry): string | undefined {
  if (body.type !== 'message' || body.post === undefined) return undefined;
  const sentAt = (post: string | undefined) =>
    entries.findIndex((entry) => entry.body.type === 'post' && sentUnder(entry) === post);
  const later = entries
    .slice(0, -1)
    .find((one) => one.body.type === 'message' && sentAt(one.body.post) > sentAt(body.post));
  return later === undefined ? undefined : `message ${body.post} joins behind ${saidIn(later)}, which was sent later`;
}

/** Each call must have its one result directly behind it, in call order, and there are no other results. */
function derivationFault(entries: readonly Entry[]): string | undefined {
  const messages = modelMessagesOf(entries);
  for (const [at, message] of messages.entries()) {
    const asked = at === 0 ? [] : toolCallsOf(messages[at - 1] as Message).map(({ id }) => id);
    const given = message.role === 'tool' ? message.content.map(({ id }) => id) : [];
    if (asked.join() !== given.join()) return `derivation: the results [${given}] follow the calls [${asked}]`;
  }
  const last = messages.at(-1);
  return last !== undefined && toolCallsOf(last).length > 0 ? 'derivation: a call without a result' : undefined;
}
