import { OuterCall, type PlaceInside } from '../../../src/agent/run/outer-call.js';
import { SessionRecorder } from '../../../src/agent/session/recorder.js';
import { NestedRuns } from '../../../src/state/record/nested-runs.js';
import { decidesInTwo, type Method, type PlantedFault, replace } from './plant.js';

/** The faults of agents that are used as tools, by name. */
export const nestedFaults: Readonly<Record<string, PlantedFault>> = {
  'a denial inside of an agent and its result are two appends': {
    scenario: 'two decide on a call inside of an agent',
    budget: {},
    finds: 'was denied, and is open',
    code: () => replace(SessionRecorder.prototype, 'decide', () => decidesInTwo as Method),
  },
  'a key inside of an agent depends on the attempt': {
    scenario: 'a call inside of an agent runs again',
    budget: { crash: 1 },
    finds: 'have two keys',
    code: () =>
      replace(
        OuterCall.prototype,
        'place',
        (original) =>
          function (this: OuterCall) {
            const { attempt } = (this as unknown as { call: { attempt: number } }).call;
            const place = original.call(this) as PlaceInside;
            return { ...place, runId: `${place.runId}#${attempt}` };
          } as Method,
      ),
  },
  'the attempts of a call inside of an agent are not counted': {
    scenario: 'a call inside of an agent runs again',
    budget: { crash: 1 },
    finds: 'acts twice',
    code: () => replace(SessionRecorder.prototype, 'attemptOf', () => () => 1),
  },
  'nobody looks for questions inside of an agent': {
    scenario: 'a call inside of an agent waits',
    budget: {},
    finds: 'waits for a person, and is not shown as a question',
    code: () => replace(NestedRuns.prototype, 'inside', () => () => undefined),
  },
};
