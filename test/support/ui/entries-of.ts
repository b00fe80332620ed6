import type { Entry, Message } from 'keelson';

/** Returns messages as the entries of one run, whose id is `r`. The ids are `e1`, `e2`, … */
export function entriesOf(messages: readonly Message[]): Entry[] {
  let turn = 0;
  return messages.map((message, index) => {
    if (message.role === 'assistant') turn += 1;
    const parent = index === 0 ? {} : { parent: `e${index}` };
    return { id: `e${index + 1}`, ...parent, at: index, run: 'r', body: { type: 'message', message, turn } };
  });
}
