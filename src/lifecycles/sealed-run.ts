import { OptionInvalidError } from '../errors.js';
import { type Clock, systemClock } from '../internal/clock.js';
import { isObject } from '../internal/json.js';
import { callable, clock, fullText, numberRule, required } from '../internal/options/rules.js';
import { type OptionTable, validateOptions } from '../internal/options/validate.js';
import type { Awaitable } from '../internal/promise.js';
import type { Message, ToolCallPart } from '../model/message.js';
import { messageFromJson, messageToJson } from '../state/record/entry-json.js';
import { SealInvalidError } from './seal-error.js';

/** A secret of at least 32 bytes, or an HMAC key of the Web Crypto API with SHA-256. */
export type SealKey = string | Uint8Array | Awaited<ReturnType<typeof crypto.subtle.importKey>>;

type WebKey = Exclude<SealKey, string | Uint8Array>;

/** The members of a key's algorithm that are checked. `length` is in bits. */
interface KeyAlgorithm {
  readonly name: string;
  readonly hash?: { readonly name: string };
  readonly length?: number;
}

/** The members of a suspended result that `sealRun` reads. */
export interface SealableRun {
  readonly status: string;
  readonly history: readonly Message[];
  readonly pending: readonly (SealedCall | SealedAnswer)[];
}

/** A tool call that waits for a decision. */
type SealedCall = Omit<ToolCallPart, 'inside'> & {
  /** The ids of the enclosing tool calls, outermost first. Absent for a call of the outermost run. */
  readonly path?: readonly string[] | undefined;
  readonly agent?: string | undefined;
  readonly reason: string;
  readonly by: string;
  /** Set if the tool has no `execute`, so that the call waits for its result. */
  readonly needs?: 'result' | undefined;
};

/** An answer that waits for a decision. */
interface SealedAnswer {
  readonly type: 'answer';
  readonly id: string;
  readonly path?: readonly string[] | undefined;
  readonly agent?: string | undefined;
  readonly text: string;
  readonly reason: string;
  readonly by: string;
  readonly name?: undefined;
  readonly input?: undefined;
}

/** Options of `sealRun`. */
export interface SealOptions {
  /** Name of the agent that continues the run. */
  readonly agent: string;
  /** Milliseconds until `openRun` refuses the sealed run. */
  readonly expiresInMs: number;
  /** The source of the time. Default: the system clock. */
  readonly clock?: Clock | undefined;
}

/** Options of `openRun`. */
export interface OpenOptions {
  /** Name of the agent that continues the run. Required if agents share a key. Default: any agent. */
  readonly agent?: string | undefined;
  /**
   * Records the id of the sealed run, and returns false if the id is already recorded. An id can be forgotten after
   * `expiresAt`.
   *
   * Without this option, a sealed run can be opened any number of times until it expires.
   */
  readonly useOnce?: ((id: string, expiresAt: number) => Awaitable<boolean>) | undefined;
  /** The source of the time. Default: the system clock. */
  readonly clock?: Clock | undefined;
}

/** A suspended run that `openRun` has restored. */
export interface OpenedRun {
  /** The id of the sealed run. Each call of `sealRun` generates a new one. */
  readonly id: string;
  readonly agent: string;
  /** Time of expiry in milliseconds since 1970. */
  readonly expiresAt: number;
  /** The history of the suspended run. Pass it to the next run as `messages`. */
  readonly messages: readonly Message[];
  /** The open tool calls, or the suspended answer. Decide on them in `resume`. */
  readonly pending: readonly (SealedCall | SealedAnswer)[];
}

const VERSION = 'keelson-run.1';
const LEAST_BYTES = 32;
const ALGORITHM = { name: 'HMAC', hash: 'SHA-256' } as const;
const LATEST = 8.64e15;

/**
 * Writes a suspended run as a string that a client can keep but cannot change. The string is signed, not encrypted, so
 * its owner can read the messages.
 *
 * Throws an `OptionInvalidError` if the run is not suspended or the key is too short.
 *
 * @example
 * import { Agent } from 'keelson';
 * import { approval, sealRun } from 'keelson/lifecycles';
 * import { calls, scriptedModel } from 'keelson/testing';
 *
 * const model = scriptedModel([calls('pay', { amount: 40 })]);
 * const cashier = new Agent({ name: 'cashier', model, lifecycle: [approval()] });
 * const result = await cashier.run('Pay the harbour fee.');
 * const key = crypto.getRandomValues(new Uint8Array(32));
 * const text = await sealRun(result, key, { agent: 'cashier', expiresInMs: 15 * 60_000 });
 */
export async function sealRun(result: SealableRun, key: SealKey, options: SealOptions): Promise<string> {
  validateOptions(options, sealRules);
  if (!isObject(result) || result.status !== 'suspended') {
    const status = isObject(result) ? JSON.stringify(result.status) : typeof result;
    throw new OptionInvalidError('result', `\`result\` must be a suspended run, got the status ${status}`);
  }
  const { agent, expiresInMs, clock: time = systemClock } = options;
  const secret = await keyOf(key);
  const document = {
    id: crypto.randomUUID(),
    agent,
    expiresAt: Math.min(time.now() + expiresInMs, LATEST),
    messages: result.history.map(messageToJson),
    pending: result.pending,
  };
  const payload = toBase64(new TextEncoder().encode(JSON.stringify(document)));
  const signature = await crypto.subtle.sign(ALGORITHM, secret, signed(payload));
  return `${VERSION}.${payload}.${toBase64(new Uint8Array(signature))}`;
}

/**
 * Checks a sealed run and restores it. Rejects with a `SealInvalidError` if the string was changed, was signed with
 * another key, has expired, belongs to another agent or was used before.
 *
 * @example
 * import type { Agent } from 'keelson';
 * import { openRun, type SealKey } from 'keelson/lifecycles';
 *
 * const usedIds = new Set<string>();
 * async function approveAll(cashier: Agent, text: string, key: SealKey) {
 *   const useOnce = (id: string) => !usedIds.has(id) && usedIds.add(id).has(id);
 *   const { messages, pending } = await openRun(text, key, { agent: 'cashier', useOnce });
 *   const resume = Object.fromEntries(pending.map(({ id }) => [id, 'approve' as const]));
 *   return cashier.run('', { messages, resume });
 * }
 */
export async function openRun(text: string, key: SealKey, options: OpenOptions = {}): Promise<OpenedRun> {
  validateOptions(options, openRules);
  const { agent, useOnce, clock: time = systemClock } = options;
  const secret = await keyOf(key);
  const run = restored(await verifiedPayload(text, secret));
  // Negated, because a comparison with NaN is false. So an invalid clock counts as expired.
  if (!(time.now() < run.expiresAt)) {
    throw new SealInvalidError('expired', 'it has expired; ask for the decision again with a new run');
  }
  if (agent !== undefined && agent !== run.agent) {
    throw new SealInvalidError(
      'agent',
      `it must belong to the agent ${JSON.stringify(agent)}, but names another agent`,
    );
  }
  if (useOnce !== undefined && (await useOnce(run.id, run.expiresAt)) !== true) {
    throw new SealInvalidError('used', 'its id was used before; a run can be resumed only once');
  }
  return run;
}

async function verifiedPayload(text: string, secret: WebKey): Promise<string> {
  const [name, version, payload, signature, ...rest] = typeof text === 'string' ? text.split('.') : [];
  const isSealed = payload !== undefined && signature !== undefined && rest.length === 0;
  if (`${name}` !== VERSION.split('.')[0] || !isSealed) {
    throw new SealInvalidError('malformed', 'it must be a string that `sealRun` returned');
  }
  if (`${name}.${version}` !== VERSION) {
    throw new SealInvalidError('version', `it must have the version ${VERSION}; ask for the decision again`);
  }
  const mac = fromBase64(signature);
  const isGenuine = mac !== undefined && (await crypto.subtle.verify(ALGORITHM, secret, mac, signed(payload)));
  if (!isGenuine) throw new SealInvalidError('forged', 'it was changed, or another key signed it');
  return payload;
}

/** Restores a run from a payload whose signature is valid. */
function restored(payload: string): OpenedRun {
  try {
    const { id, agent, expiresAt, messages, pending } = JSON.parse(new TextDecoder().decode(fromBase64(payload)));
    return { id, agent, expiresAt, messages: messages.map(messageFromJson), pending };
  } catch (cause) {
    throw new SealInvalidError('malformed', 'its content must be a run that `sealRun` has sealed', { cause });
  }
}

/** Returns the bytes to sign. They include the version, so that another format cannot reuse a signature. */
function signed(payload: string): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(`${VERSION}.${payload}`);
}

async function keyOf(key: SealKey): Promise<WebKey> {
  if (isWebKey(key)) {
    const { name, hash, length = 0 } = key.algorithm as KeyAlgorithm;
    if (name === 'HMAC' && hash?.name === 'SHA-256' && length >= LEAST_BYTES * 8) return key;
    const expected = `an HMAC key with SHA-256 and at least ${LEAST_BYTES} bytes`;
    const got = `${name} with ${hash?.name ?? 'no hash'} and ${length / 8} bytes`;
    throw new OptionInvalidError('key', `\`key\` must be ${expected}, got ${got}: create one with \`generateKey\``);
  }
  const bytes = typeof key === 'string' ? new TextEncoder().encode(key) : key;
  if (!(bytes instanceof Uint8Array) || bytes.length < LEAST_BYTES) {
    const got = bytes instanceof Uint8Array ? `${bytes.length} bytes` : typeof key;
    const message = `\`key\` must be a secret of at least ${LEAST_BYTES} bytes, got ${got}: use random bytes`;
    throw new OptionInvalidError('key', message);
  }
  return crypto.subtle.importKey('raw', new Uint8Array(bytes), ALGORITHM, false, ['sign', 'verify']);
}

function isWebKey(key: unknown): key is WebKey {
  return isObject(key) && 'algorithm' in key;
}

function toBase64(bytes: Uint8Array): string {
  let binary = '';
  for (const byte of bytes) binary += String.fromCharCode(byte);
  return btoa(binary).replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '');
}

/** Decodes base64url. Returns undefined for any other string. */
function fromBase64(text: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    const binary = atob(text.replaceAll('-', '+').replaceAll('_', '/'));
    const bytes = Uint8Array.from(binary, (character) => character.charCodeAt(0));
    // Each signature must have exactly one spelling.
    return toBase64(bytes) === text ? bytes : undefined;
  } catch {
    return undefined;
  }
}

const sealRules = {
  agent: required(fullText),
  expiresInMs: required(numberRule('a positive number of milliseconds', Number.MIN_VALUE, LATEST)),
  clock,
} satisfies OptionTable<SealOptions>;

const openRules = { agent: fullText, useOnce: callable, clock } satisfies OptionTable<OpenOptions>;
