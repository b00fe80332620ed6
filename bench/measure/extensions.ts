import { type Figure, figureOf } from '../driver/figure.js';
import type { LaneSpec } from '../driver/lane.js';
import { perRound, race } from '../driver/race.js';
import { ratios, type Setting, timesNote } from './measurement.js';

const ROUND = { turns: 1, calls: 1 };

/** The cost of a registry without extensions, which must be within its bound, and with extensions. */
export async function measureExtensions(setting: Setting): Promise<Figure[]> {
  const side = setting.builds.shipped;
  const lane = (extensions: number, extensionKind: 'additions' | 'callbacks'): LaneSpec => ({
    side,
    work: { ...ROUND, extensions, extensionKind },
  });
  const rows = [
    { name: '0 extensions', lane: lane(0, 'additions'), bound: 1.1 },
    { name: '1 extension with an addition', lane: lane(1, 'additions'), bound: 5 },
    { name: '5 extensions with an addition', lane: lane(5, 'additions') },
    { name: '1 extension with a callback', lane: lane(1, 'callbacks'), bound: 3 },
    { name: '5 extensions with a callback', lane: lane(5, 'callbacks') },
  ];
  const rounds = await race([{ side, work: ROUND }, ...rows.map((row) => row.lane)], setting.race);
  const figures = rows.map(({ name, bound }, index) =>
    figureOf(ratios(rounds, index + 1, 0), {
      name: `${name}, against no registry`,
      unit: '×',
      bound,
      note: timesNote(rounds, index + 1, 0),
    }),
  );
  return [...figures, ...(await measureInputs(setting))];
}

/** The time of a run whose conversation passes through `onInputMessages`, with a bound in µs. */
async function measureInputs(setting: Setting): Promise<Figure[]> {
  const side = setting.builds.shipped;
  const inputs = { extensionKind: 'inputs' } as const;
  const rows = [
    {
      name: '20 extensions with onInputMessages, 1,000 messages',
      work: { extensions: 20, history: 1_000 },
      bound: 1_000,
    },
    {
      name: '1 extension with onInputMessages, a picture of 10 MB',
      work: { extensions: 1, history: 1, pictureBytes: 10_000_000 },
      bound: 20_000,
    },
  ];
  const rounds = await race(
    rows.map(({ work }): LaneSpec => ({ side, work: { ...inputs, ...work } })),
    setting.race,
  );
  return rows.map(({ name, bound }, lane) =>
    figureOf(
      perRound(rounds, (taken) => taken[lane] as number),
      { name, unit: 'µs', bound },
    ),
  );
}
