import { describeError } from '../../../errors.js';
import { type Clock, withinMs } from '../../../internal/clock.js';
import type { Stop } from '../../../internal/stop.js';
import type { UserMessage } from '../../../model/message.js';
import type { BackgroundWork, ToolResult } from '../../../tools/tool.js';
import { errorResult, toToolResult } from '../../../tools/tool-result.js';

/** Milliseconds that a work may continue after its signal was aborted. */
const STOP_MS = 5_000;

/** A background work with its name in messages to the model. */
interface NamedWork {
  readonly id: string;
  readonly label: string;
}

interface StoppableWork extends NamedWork {
  readonly work: BackgroundWork;
  readonly stop: Stop;
}

/**
 * Runs a background work. Resolves with the message that tells the model the result, the failure or the stop. Waits
 * five seconds for a stopped work. Never rejects.
 */
export async function perform(work: StoppableWork, clock: Clock): Promise<UserMessage> {
  const ended = endOf(work);
  try {
    return await work.stop.race(ended);
  } catch {
    return (await withinMs(ended, STOP_MS, clock)) ?? endMessage(work, 'was stopped');
  }
}

/** Returns the message about a work whose process has stopped, for the model. */
export function lostMessage(work: NamedWork): UserMessage {
  const content = `The process that ran the background work ${nameOf(work)} stopped. The work may be done in part or in full.`;
  return { role: 'user', content };
}

export function nameOf({ id, label }: NamedWork): string {
  return `${JSON.stringify(label)} (${id})`;
}

async function endOf(started: StoppableWork): Promise<UserMessage> {
  const { work, stop } = started;
  try {
    if (stop.stopped) throw stop.reason;
    const result = toToolResult(await (typeof work === 'function' ? work(stop.signal) : work));
    return endMessage(started, result.isError ? 'has failed' : 'has ended', result);
  } catch (error) {
    if (stop.stopped) return endMessage(started, 'was stopped');
    return endMessage(started, 'has failed', errorResult(describeError(error)));
  }
}

function endMessage(work: NamedWork, how: string, result?: ToolResult): UserMessage {
  const heading = `The background work ${nameOf(work)} ${how}`;
  if (result === undefined) return { role: 'user', content: `${heading}.` };
  const { content } = result;
  if (typeof content === 'string') return { role: 'user', content: `${heading}: ${content}` };
  return { role: 'user', content: [{ type: 'text', text: `${heading}:` }, ...content] };
}
