// Checks values in a worker thread. Tests run this file as it is, and the build copies it, so it is JavaScript.
import { parentPort } from 'node:worker_threads';
import { validate } from '@cfworker/json-schema';

/** The main thread keeps 20 errors, after it has left out those that only repeat a nested error. */
const MAX_ERRORS = 200;
const MAX_LENGTH = 1_000;
const MAX_LOCATION = 10_000;

/** @type {string[]} */
let pieces = [];

parentPort?.on('message', (message) => {
  if (typeof message === 'string') {
    pieces.push(message);
    return;
  }
  const value = pieces.join('');
  pieces = [];
  parentPort?.postMessage(check(message, value));
});
// The time limit of the first check begins now.
parentPort?.postMessage('ready');

/**
 * @param {{ schema: string, draft: import('@cfworker/json-schema').SchemaDraft }} job
 * @param {string} value
 */
function check({ schema, draft }, value) {
  try {
    const { errors } = validate(JSON.parse(value), JSON.parse(schema), draft);
    return { errors: errors.slice(0, MAX_ERRORS).map(shortened) };
  } catch (error) {
    const { name, message } = /** @type {Error} */ (error);
    return { fault: { name, message: message.slice(0, MAX_LENGTH) } };
  }
}

/** @param {import('@cfworker/json-schema').OutputUnit} unit */
function shortened({ keyword, error, instanceLocation }) {
  // A location that is cut could end inside a percent escape.
  const location = instanceLocation.length > MAX_LOCATION ? '#' : instanceLocation;
  return { keyword, error: error.slice(0, MAX_LENGTH), instanceLocation: location };
}
