// Requests of a page over HTTP, with any `Host` header.
import { request as open } from 'node:http';

/** How long a busy machine may take for one event. */
const EVENT_MS = 30_000;

/**
 * @typedef {object} Sent
 * @property {string} [id] the chat
 * @property {object} [body] makes the request a POST
 * @property {Record<string, string>} [headers]
 */

/** @typedef {Awaited<ReturnType<typeof request>>} Answered */

/**
 * Sends a request, and resolves when the response begins.
 * @param {string} url
 * @param {Sent} [sent]
 */
export async function request(url, { body, headers = {} } = {}) {
  const json = body && { 'content-type': 'application/json' };
  const sent = open(url, { method: body ? 'POST' : 'GET', headers: { ...json, ...headers }, agent: false });
  sent.end(body && JSON.stringify(body));
  /** @type {import('node:http').IncomingMessage} */
  const response = await inTime('a response', (resolve, reject) =>
    sent.once('response', resolve).once('error', reject),
  );
  let received = '';
  let isOver = false;
  response.setEncoding('utf8').on('data', (piece) => {
    received += piece;
  });
  response
    .on('error', () => {})
    .once('close', () => {
      isOver = true;
    });
  /** @param {string} wanted */
  const until = (wanted) =>
    inTime(`"${wanted}" in the response`, (resolve, reject) => {
      const look = () => {
        if (received.includes(wanted)) resolve(received);
        else if (isOver) reject(new Error(`no "${wanted}" in: ${cut(received)}`));
      };
      for (const event of ['data', 'close']) response.on(event, look);
      look();
    });
  const whole = () =>
    inTime('the end of the response', (resolve) => {
      if (isOver) resolve(received);
      response.once('close', () => resolve(received));
    });
  return { status: response.statusCode, until, whole, leave: () => response.destroy() };
}

/** @param {string} text */
function cut(text) {
  return text.length > 400 ? `${text.slice(0, 200)} … ${text.slice(-200)}` : text;
}

/**
 * @template Value
 * @param {string} wanted
 * @param {(resolve: (value: any) => void, reject: (error: unknown) => void) => void} start
 * @returns {Promise<Value>}
 */
export function inTime(wanted, start) {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`no ${wanted} within ${EVENT_MS / 1_000} s`)), EVENT_MS);
    start(
      (value) => {
        clearTimeout(timer);
        resolve(value);
      },
      (error) => {
        clearTimeout(timer);
        reject(error);
      },
    );
  });
}
