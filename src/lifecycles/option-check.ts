import { describeValue, refuse, refuseUnless } from '../errors.js';
import { MAX_TIMER_MS } from '../internal/clock.js';
import { isObject } from '../internal/json.js';

/** Throws where a value is there and is no whole number from `least` on. */
export function validateWhole(option: string, value: number | undefined, least: number): void {
  const isRight = value === undefined || (Number.isSafeInteger(value) && value >= least);
  if (!isRight) refuse(option, value, `give a whole number of ${least} or more`);
}

/** Throws where a value is no time that a timer can keep. */
export function validateMs(option: string, value: number): void {
  const isRight = typeof value === 'number' && value >= 0 && value <= MAX_TIMER_MS;
  if (!isRight) refuse(option, value, `give milliseconds from 0 to ${MAX_TIMER_MS}`);
}

/** Throws where a value is there and is no function. */
export function validateFunction(option: string, value: unknown): void {
  const isRight = value === undefined || typeof value === 'function';
  refuseUnless(isRight, option, `it is ${describeValue(value)}, not a function`);
}

/** Throws where a value is no model. */
export function validateModel(option: string, value: unknown): void {
  const isRight = isObject(value) && typeof value.generate === 'function';
  refuseUnless(isRight, option, `it is ${describeValue(value)}, not a model with \`generate\``);
}
