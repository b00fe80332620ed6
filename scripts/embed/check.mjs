// The check of one server: the same steps in each place.
import { randomUUID } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import { inTime, request } from './client.mjs';

const HOST = 'chat.example.test';

/**
 * @typedef {object} Place
 * @property {string} url the address of the chat
 * @property {import('./services.mjs').Services} services
 * @property {readonly string[] | undefined} without steps that the place cannot take
 */

/**
 * The failure of each step that a server took, or undefined.
 * @typedef {Record<string, string | undefined>} Results
 */

/** @type {Record<string, (place: Place) => Promise<void>>} */
const STEPS = {
  /** The first delta arrives before the model has said the last one. */
  async streams({ url, services }) {
    const { id, answer, story } = await ask(url, services);
    await answer.until('Once upon');
    story.release();
    await endsWell(answer);
    const { messages, running } = await historyOf(url, id);
    check(messages.length === 2 && !running, `the history has ${JSON.stringify(messages)}`);
  },

  /** A stop reaches the model, and the chat goes on. */
  async stop({ url, services }) {
    const { id, answer, story } = await ask(url, services);
    await answer.until('Once upon');
    const stopped = await (await request(`${url}/stop`, { body: { id } })).whole();
    check(stopped === '{"stopped":true}', `the stop was answered with ${stopped}`);
    await answer.until('"abort"');
    await ended(story);
    await saysMore(url, id);
  },

  /** A page that comes back follows the running answer from its beginning. */
  async reload({ url, services }) {
    const { id, answer, story } = await ask(url, services);
    await answer.until('Once upon');
    answer.leave();
    const { messages, running } = await historyOf(url, id);
    check(messages.length === 1 && running, `during the answer the history has ${JSON.stringify(messages)}`);
    const again = await request(`${url}/${id}/stream`);
    await again.until('Once upon');
    story.release();
    await endsWell(again);
  },

  /** A run outlives its client, and the history has its answer. */
  async leave({ url, services }) {
    const { id, answer, story } = await ask(url, services);
    await answer.until('Once upon');
    answer.leave();
    await historyOf(url, id);
    story.release();
    const { messages } = await settled(url, id);
    check(JSON.stringify(messages).includes('The end.'), `the history has ${JSON.stringify(messages)}`);
    await saysMore(url, id);
  },

  /** A client that leaves for ever does not lock its chat: a stop of another page ends the run. */
  async 'stop later'({ url, services }) {
    const { id, answer, story } = await ask(url, services);
    await answer.until('Once upon');
    answer.leave();
    const stopped = await (await request(`${url}/stop`, { body: { id } })).whole();
    check(stopped === '{"stopped":true}', `the stop was answered with ${stopped}`);
    await ended(story);
    await saysMore(url, id);
  },

  /** The tools of a server are offered. Structured data that does not match the schema of its tool is left out. */
  async mcp({ url, services }) {
    const good = await (await say(url, { text: 'Weigh AB-12' })).whole();
    check(good.includes('AB-12 weighs 40 kg.') && good.includes('Q7'), `a valid result: ${shown(good)}`);
    const bad = await (await say(url, { text: 'Weigh much-too-long' })).whole();
    check(bad.includes('much-too-long weighs') && !bad.includes('Q7'), `an invalid result: ${shown(bad)}`);
    for (const tool of ['weigh', 'book'])
      check(services.offered.has(`mcp__harbour__${tool}`), `${tool} is not offered`);
  },

  /** A pattern is checked in a worker thread only. */
  async worker({ url }) {
    const bad = await (await say(url, { text: 'Weigh lead' })).whole();
    check(bad.includes('lead weighs') && !bad.includes('Q7'), `an invalid result: ${shown(bad)}`);
  },

  /** A tool runs after its approval. */
  async approval({ url }) {
    const id = randomUUID();
    const asked = await (await say(url, { id, text: 'Book A1' })).whole();
    check(asked.includes('"tool-approval-request"'), `a call that needs approval: ${shown(asked)}`);
    const [, call = ''] = /"toolCallId":"([^"]+)"/.exec(asked) ?? [];
    const body = { id, decisions: { [call]: 'approve' } };
    const decided = await (await request(`${url}/decide`, { body })).whole();
    check(decided.includes('Berth A1 is booked.'), `the approved call: ${shown(decided)}`);
  },

  /** The page is deployed under another name, with and without TLS. A page of another origin is refused. */
  async host({ url }) {
    for (const own of [new URL(url).origin, `http://${HOST}`, `https://${HOST}`]) {
      const { host, protocol } = new URL(own);
      const headers = { host, 'x-forwarded-proto': protocol.slice(0, -1) };
      const answer = await say(url, { text: 'Hello', headers: { ...headers, origin: own } });
      check(answer.status === 200, `its own page on ${own} gets ${answer.status}: ${await answer.whole()}`);
      const foreign = await say(url, { text: 'Hello', headers: { ...headers, origin: 'http://evil.example.test' } });
      check(foreign.status === 403, `a page of another origin gets ${foreign.status}`);
    }
  },
};

export const columns = Object.keys(STEPS);

/**
 * Takes the steps. Returns the failure of each, or undefined.
 * @param {Place} place
 */
export async function checkPlace(place) {
  place.services.offered.clear();
  const steps = Object.entries(STEPS).filter(([name]) => !place.without?.includes(name));
  /** @type {Results} */
  const results = {};
  for (const [name, step] of steps) results[name] = await failureOf(() => step(place));
  return results;
}

/** @param {() => Promise<void>} step */
export async function failureOf(step) {
  return step().then(
    () => undefined,
    (error) => String(error),
  );
}

/**
 * Asks for a story in a new chat.
 * @param {string} url
 * @param {Place['services']} services
 */
async function ask(url, services) {
  const id = randomUUID();
  const answer = await say(url, { id, text: `Tell ${id}` });
  check(answer.status === 200, `a message gets ${answer.status}`);
  return { id, answer, story: services.story(id) };
}

/**
 * Sends a message as `useChat` does.
 * @param {string} url
 * @param {{ text: string, id?: string, headers?: Record<string, string> }} message
 */
function say(url, { text, id = randomUUID(), headers = {} }) {
  const message = { id: randomUUID(), role: 'user', parts: [{ type: 'text', text }] };
  return request(url, { body: { id, messages: [message] }, headers });
}

/**
 * @param {string} url
 * @param {string} id
 */
async function saysMore(url, id) {
  const more = await say(url, { id, text: 'And now?' });
  const text = await more.whole();
  check(text.includes('You said: And now?'), `the next message gets ${more.status}: ${shown(text)}`);
}

/** @param {import('./client.mjs').Answered} answer */
async function endsWell(answer) {
  const text = await answer.whole();
  check(text.includes('The end.') && text.endsWith('data: [DONE]\n\n'), `the stream ends with ${shown(text)}`);
}

/** @param {ReturnType<Place['services']['story']>} story */
function ended(story) {
  return inTime('end of the request to the model', (resolve) => void story.isEnded.then(resolve));
}

/**
 * @param {string} url
 * @param {string} id
 * @returns {Promise<{ messages: { parts: unknown[] }[], running: boolean }>}
 */
async function historyOf(url, id) {
  const response = await request(`${url}/history?id=${id}`);
  const text = await response.whole();
  check(response.status === 200, `the history gets ${response.status}: ${shown(text)}`);
  return JSON.parse(text);
}

/**
 * Returns the history when the run has ended.
 * @param {string} url
 * @param {string} id
 */
async function settled(url, id) {
  for (let tries = 0; tries < 200; tries += 1) {
    const history = await historyOf(url, id);
    if (!history.running) return history;
    await setTimeout(50);
  }
  throw new Error('the run does not end after its client left');
}

/** @param {string} text */
function shown(text) {
  return text.replaceAll(/\s+/g, ' ').slice(-300);
}

/**
 * @param {boolean} holds
 * @param {string} message
 */
function check(holds, message) {
  if (!holds) throw new Error(message);
}
