import { rmSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { hooksOf, makePlace, manifest, type Place } from '../support/manifest/place.js';
import { cpuNow } from '../support/process/cpu-time.js';

function fill(place: Place, count: number): void {
  for (let index = 0; index < count; index += 1) {
    const name = `e${String(index).padStart(4, '0')}`;
    const more = {
      hooks: [{ name: 'h', event: 'before_tool', command: 'true' }],
      settings: [{ name: 'level', description: 'x', default: 1, sensitive: true }],
      mcpServers: { m: { command: 'true', args: [], disabled: true } },
      skills: [{ name: 's', description: 'x', prompt: 'x' }],
    };
    place.user(name, manifest(name, more));
  }
}

async function timeToLoad(place: Place): Promise<number> {
  const startedAt = cpuNow();
  const { loader } = await place.load();
  const { extensions } = loader.status();
  const time = cpuNow() - startedAt;
  expect(extensions.at(-1)?.servers).toMatchObject([{ name: 'm', state: 'disabled' }]);
  expect(loader.skills.list()).toHaveLength(loader.extensions().length);
  return time;
}

test('300 extensions load and are listed in linear time', { timeout: 60_000 }, async () => {
  const [few, many] = [makePlace(), makePlace()];
  fill(few, 60);
  fill(many, 300);
  await timeToLoad(few);

  // There are five times as many extensions, so quadratic work would take 25 times as long. A high ratio is measured again.
  let ratio = Infinity;
  for (let round = 0; round < 3 && ratio >= 10; round += 1) ratio = (await timeToLoad(many)) / (await timeToLoad(few));

  expect(ratio).toBeLessThan(10);
});

test('an invalid extension does not affect a valid one', { timeout: 60_000 }, async () => {
  const place = makePlace();
  const bad = fc.oneof(
    fc.json(),
    fc.string(),
    fc.constantFrom(
      '{"name":"good0","version":1}',
      '{"name":"__proto__","version":"1.0.0","description":"x"}',
      '[[[',
      '\0',
    ),
  );

  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.option(bad, { nil: undefined }), { minLength: 1, maxLength: 6 }),
      async (neighbours) => {
        rmSync(join(place.userDir, 'extensions'), { recursive: true, force: true });
        const hooks = [{ name: 'h', event: 'before_tool', command: 'true' }];
        const good = neighbours.map((text, index) => {
          if (text === undefined) place.user(`${index}`, manifest(`good${index}`, { hooks }));
          else place.user(`${index}`, text === '' ? ' ' : text);
          return text === undefined ? [`good${index}`] : [];
        });
        const { loader, agent } = await place.load();

        expect(loader.extensions().map(({ name }) => name)).toEqual(good.flat());
        expect(hooksOf(loader).map(({ extension }) => extension)).toEqual(good.flat());
        const told = loader.status().diagnostics.filter(({ level }) => level === 'error');
        expect(told).toHaveLength(neighbours.length - good.flat().length);
        expect(told.every(({ problems }) => problems.length > 0)).toBe(true);
        await agent.close();
      },
    ),
    { numRuns: 20 },
  );
});
