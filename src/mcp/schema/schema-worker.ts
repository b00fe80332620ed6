// The program of the worker thread. `worker-source.ts` bundles it into one string.
import { dereference, type OutputUnit, validate } from '@cfworker/json-schema';
import { lostIn, relax } from '../../tools/lenient-schema.js';
import type { CheckJob } from './bounded-check.js';

/**
 * The largest number of errors that are sent to the main thread. The main thread removes errors that only repeat a
 * nested error, and then keeps 20.
 */
const MAX_ERRORS = 200;
const MAX_LENGTH = 1_000;
const MAX_LOCATION = 10_000;

// Works in a script and in an ES module: the runtimes differ in how they run a string.
const { parentPort } = process.getBuiltinModule('node:worker_threads');
parentPort?.on('message', (job: CheckJob) => parentPort.postMessage(check(job)));
// The time limit of the first check begins now.
parentPort?.postMessage('ready');

function check(job: CheckJob) {
  try {
    const value = JSON.parse(job.value);
    const schema = JSON.parse(job.schema);
    const lookup = dereference(schema);
    if (!job.isSchema) relax(lookup);
    const { errors } = validate(value, schema, job.draft, lookup);
    const lost = job.isSchema && errors.length === 0 ? lostIn(dereference(value)) : undefined;
    return { errors: errors.slice(0, MAX_ERRORS).map(shortened), lost };
  } catch (error) {
    const { name, message } = error as Error;
    return { fault: { name, message: message.slice(0, MAX_LENGTH) } };
  }
}

function shortened({ keyword, error, instanceLocation }: OutputUnit) {
  // A location that is cut could end inside a percent escape.
  const location = instanceLocation.length > MAX_LOCATION ? '#' : instanceLocation;
  return { keyword, error: error.slice(0, MAX_LENGTH), instanceLocation: location };
}
