import { expect, test } from 'vitest';
import { makeExtension, makePlace } from '../support/trust/place.js';

test('a part that cannot be checked does not prevent one prompt for the other parts', async () => {
  const place = makePlace();
  const gate = place.gate();
  const { item } = makeExtension(place);
  const broken = { ...item, name: 'broken', command: './missing.sh' };
  const others = ['a', 'b'].map((name) => ({ ...item, name }));

  await gate.authorizeParts?.({ ...item, kind: 'extension', name: 'ext', command: undefined }, [broken, ...others]);
  const decisions = await Promise.all([broken, ...others].map((part) => gate.authorize(part)));

  expect(decisions.map(({ reason }) => reason)).toEqual(['no-executable', 'approved', 'approved']);
  expect(place.asked.map(({ parts }) => parts.map(({ item: { name } }) => name))).toEqual([['a', 'b']]);
});

test('a request is about a change if one of its parts was approved with other content', async () => {
  const place = makePlace();
  const { item } = makeExtension(place);
  const whole = { ...item, kind: 'extension', name: 'ext', command: undefined } as const;
  const gate = place.gate();
  await gate.authorize(item);

  await gate.authorizeParts?.(whole, [
    { ...item, name: 'new' },
    { ...item, args: ['changed'] },
  ]);

  expect(place.asked.at(-1)).toMatchObject({ why: 'changed', parts: [{ why: 'new' }, { why: 'changed' }] });
});

test('the only part of a package can be declined', async () => {
  const place = makePlace();
  const { item } = makeExtension(place);
  const gate = place.gate({ approve: ({ parts }) => ({ declined: parts.map(({ digest }) => digest) }) });

  await gate.authorizeParts?.({ ...item, kind: 'extension', name: 'ext', command: undefined }, [item]);

  expect(await gate.authorize(item)).toMatchObject({ allowed: false, reason: 'declined' });
  expect(place.logger.lines).toEqual([]);
});

test('the parts of a request have no parts of their own', async () => {
  const place = makePlace();
  const { item } = makeExtension(place);

  await place.gate().authorizeParts?.({ ...item, kind: 'extension', name: 'ext', command: undefined }, [item]);

  expect(place.asked[0]?.parts.map((part) => [part.item.name, 'parts' in part])).toEqual([['hook', false]]);
});

test('parts that are approved or declined already are not asked about again', async () => {
  const place = makePlace();
  const { item } = makeExtension(place);
  const whole = { ...item, kind: 'extension', name: 'ext', command: undefined } as const;
  const parts = ['a', 'b', 'c'].map((name) => ({ ...item, name }));
  const prompts: string[][] = [];
  const gate = place.gate({
    approve: ({ parts }) => {
      prompts.push(parts.map(({ item: { name } }) => name));
      return { declined: parts.filter(({ item: { name } }) => name === 'b').map(({ digest }) => digest) };
    },
  });

  await gate.authorizeParts?.(whole, parts.slice(0, 2));
  await gate.authorizeParts?.(whole, parts);
  await gate.authorizeParts?.(whole, parts);

  expect(prompts).toEqual([['a', 'b'], ['c']]);
});

test.each<[string, readonly string[], readonly string[]]>([
  ['no part is declined', [], ['approved', 'approved']],
  ['an unknown part is declined too', ['the first', 'sha256:00'], ['approver-failed', 'approver-failed']],
])('the answer for a package counts if it names only its parts: %s', async (_case, declined, reasons) => {
  const place = makePlace();
  const { item } = makeExtension(place);
  const parts = ['a', 'b'].map((name) => ({ ...item, name }));
  const gate = place.gate({
    approve: ({ parts: [first] }) => ({
      declined: declined.map((digest) => (digest === 'the first' ? (first?.digest ?? '') : digest)),
    }),
  });

  await gate.authorizeParts?.({ ...item, kind: 'extension', name: 'ext', command: undefined }, parts);
  const decisions = await Promise.all(parts.map((part) => gate.authorize(part)));

  expect(decisions.map(({ reason }) => reason)).toEqual(reasons);
});
