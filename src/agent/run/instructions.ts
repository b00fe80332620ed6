import { invalidOption } from '../../internal/options/validate.js';
import type { Run } from './run.js';

/** Sets the instructions of the run, if they are a function. */
export function instruct({ config, context, conversation }: Run): void {
  if (typeof config.instructions !== 'function') return;
  const text = config.instructions(context as never);
  if (typeof text !== 'string') throw invalidOption('instructions', 'a function that returns a string', text);
  context.instructions = text || undefined;
  conversation.instructions = context.instructions;
  conversation.replace(conversation.history);
}
