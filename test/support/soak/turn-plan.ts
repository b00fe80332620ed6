import { createHash } from 'node:crypto';
import type { Entry } from 'keelson';
import type { StoreKind } from './open-store.js';
import { seeded } from './random-agent.js';

export const PROCESSES = 4;
export const TURNS = 250;
/** How long a claim holds that is not renewed. */
export const CLAIM_MS = 1_000;

/** The work of a process, as its argument. */
export interface TurnOrder {
  readonly kind: StoreKind;
  /** The folder, the file or the URL of the store. */
  readonly place: string;
  readonly seed: number;
  /** The number of the process, which stays when it is started again. */
  readonly process: number;
  /** The first turn that was not acknowledged. */
  readonly from: number;
  /** How often the process was started before. */
  readonly life: number;
}

/** An acknowledged turn. */
export interface AckLine {
  readonly type: 'ack';
  readonly process: number;
  /** The id of the question. */
  readonly id: string;
  readonly session: string;
  /** The answer. */
  readonly text: string;
  /** The ids of the entries that the last run of the turn added. */
  readonly entries: readonly string[];
  /** The first entry that the process has loaded, the number of these entries, and a digest of them. */
  readonly first: string;
  readonly length: number;
  readonly digest: string;
}

/** A tool that begins. */
export interface ToolLine {
  readonly type: 'tool';
  readonly session: string;
  readonly key: string;
  readonly attempt: number;
  /** Nanoseconds of a clock that all processes share. */
  readonly at: number;
}

/** A run that failed. The process sends its question again. */
export interface ErrorLine {
  readonly type: 'error';
  readonly id: string;
  readonly code: string;
  readonly message: string;
}

/** A line that a process prints. */
export type TurnLine = AckLine | ToolLine | ErrorLine;

/** A question that a process asks. */
export interface PlannedTurn {
  readonly id: string;
  readonly session: string;
  /** The id, the tools that the model calls, and padding. */
  readonly text: string;
}

/** The tools of a turn. `ask` waits for an approval. */
const TOOLS = [[], [], ['work'], ['work', 'work', 'work'], ['ask'], ['work', 'ask']] as const;

/** Returns a turn of a process. The seed decides on its session and its tools. */
export function planTurn(seed: number, process: number, at: number): PlannedTurn {
  const random = seeded((seed + process * 7_919 + at * 104_729) | 0);
  const session = random() < 0.4 ? `shared-${Math.floor(random() * 2)}` : `own-${process}`;
  const tools = TOOLS[Math.floor(random() * TOOLS.length)] ?? [];
  const id = `question-${process}-${at}`;
  return { id, session, text: [id, ...tools, 'x'.repeat(random() * 500)].join(' ') };
}

/** Returns the turns of all processes. */
export function plannedTurns(seed: number): readonly PlannedTurn[] {
  return Array.from({ length: PROCESSES * TURNS }, (_, at) =>
    planTurn(seed, at % PROCESSES, Math.floor(at / PROCESSES)),
  );
}

/** Returns the id of a question and the tools that it names. */
export function readQuestion(text: string): { readonly id: string; readonly tools: readonly string[] } {
  const [id = '', ...words] = text.split(' ');
  return { id, tools: words.slice(0, -1) };
}

/** Returns what changes if an entry is changed, removed or put elsewhere. */
export function digestOf(entries: readonly Entry[]): string {
  return createHash('sha256')
    .update(entries.map((entry) => JSON.stringify(entry)).join('\n'))
    .digest('base64');
}
