import fc from 'fast-check';
import { Agent, HookAction, type Message, type ResumeDecision, type RunResult } from 'keelson';
import { calls, scriptedModel } from 'keelson/testing';
import { expect, test } from 'vitest';
import { toolOf } from '../../support/agent/sample-tools.js';
import { pause } from '../../support/agent/settle.js';

/** A random plan for one call: the number of suspensions, and the final decision. */
const fate = fc.record({
  suspensions: fc.integer({ min: 0, max: 3 }),
  decision: fc.constantFrom<ResumeDecision>('approve', 'deny', { deny: 'no' }),
  late: fc.boolean(),
});

test('with random suspensions and decisions, each call runs at most once and has one result in call order', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fate, { minLength: 1, maxLength: 5 }),
      fc.constantFrom(true, false, 2),
      async (fates, parallelToolCalls) => {
        const ids = fates.map((_, at) => `c${at}`);
        const fateOf = (id: string) => fates[Number(id.slice(1))] as (typeof fates)[number];
        const asked = new Map<string, number>();
        const ran: string[] = [];
        const [first, ...rest] = ids.map((id) => ({ id, name: 'work' }));
        const agent = new Agent({
          model: scriptedModel([calls(first as { id: string; name: string }, ...rest), 'done'], { perRun: true }),
          parallelToolCalls,
          tools: [
            toolOf('work', async (_input, { callId }) => {
              if (fateOf(callId).late) await pause();
              ran.push(callId);
              return `did ${callId}`;
            }),
          ],
          lifecycle: [
            {
              wrapToolCall(call, next) {
                const times = asked.get(call.id) ?? 0;
                if (times >= fateOf(call.id).suspensions) return next();
                asked.set(call.id, times + 1);
                return HookAction.suspend('ask');
              },
            },
          ],
        });

        let result: RunResult = await agent.run('go');
        for (let rounds = 0; result.status === 'suspended'; rounds++) {
          expect(rounds).toBeLessThan(5);
          const messages = JSON.parse(JSON.stringify(result.history)) as Message[];
          // A call with the plan to deny is denied at its last suspension.
          const decide = (id: string) => (asked.get(id) === fateOf(id).suspensions ? fateOf(id).decision : 'approve');
          const resume = Object.fromEntries(result.pending.map(({ id }) => [id, decide(id)]));
          result = await agent.run('', { messages, resume });
        }

        const denied = (id: string) => fateOf(id).suspensions > 0 && fateOf(id).decision !== 'approve';
        expect(result.text).toBe('done');
        expect(result.history[2]).toMatchObject({
          role: 'tool',
          content: ids.map((id) => ({ id, content: denied(id) ? expect.stringContaining('denied') : `did ${id}` })),
        });
        expect(ran.sort()).toEqual(ids.filter((id) => !denied(id)));
      },
    ),
    { numRuns: 100 },
  );
});
